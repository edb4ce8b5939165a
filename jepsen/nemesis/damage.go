package nemesis

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// startTime is how long a damaged node is given to answer, before it is said to have refused its files.
const startTime = 4 * time.Second

// A node whose files were damaged may have forgotten votes and entries that it once vouched for. Giving it its old files back is safe
// only if it took part in nothing since: else it would forget what it did in between. So a damaged node first starts cut off
// from the others. If it refuses its files it gets the old ones back; if it takes them it is let in with what it has, for good.

func damageKinds() []Kind {
	return []Kind{
		{Name: "corrupt", Family: Disks, Does: "A bit in the files of a node that is down is flipped, in a minority at most; then it is started.",
			Proof: "it refuses to start, or ends, or is not ready", Nodes: 3, Needs: []Capability{CanKeepFiles}, Harms: true, Shortest: 6 * time.Second,
			draw: func(r *rand.Rand, c *Choice) {
				c.Damage = FlipBit
				if r.IntN(3) == 0 {
					c.Damage = TearLastBit
				}
			},
			act: act{aim: aimAtVictim, strike: damage, last: letInWhoStarts, felt: damageFelt, lift: giveBack}},
		{Name: "truncate", Family: Disks, Does: "The log's file of a node that is down is cut short, in a minority at most; then it is started.",
			Proof: "it refuses to start, or ends, or is not ready", Nodes: 3, Needs: []Capability{CanKeepFiles}, Harms: true, Shortest: 6 * time.Second,
			draw: func(_ *rand.Rand, c *Choice) { c.Damage = Truncate },
			act:  act{aim: aimAtVictim, strike: damage, last: letInWhoStarts, felt: damageFelt, lift: giveBack}},
		{Name: "wipe", Family: Disks, Does: "A node that is down loses all its files, in a minority at most, and is started: the others must refuse it.",
			Proof: "it does not become ready", Nodes: 3, Needs: []Capability{CanKeepFiles}, Harms: true, Shortest: 6 * time.Second,
			draw: func(_ *rand.Rand, c *Choice) { c.Damage = Wipe },
			act:  act{aim: aimAtVictim, strike: damage, last: watchTheEmpty, felt: refusal, lift: giveBack}},
	}
}

// aimAtVictim takes the first of the order, which begins with the minority that may be harmed, that nobody harms just now.
func aimAtVictim(a *attack) error {
	for _, node := range a.inOrder()[:minority(len(a.Order))] {
		if a.ward.claim(node, claim{a.Name, a.Damage == Wipe}) {
			a.nodes = []string{node}
			return nil
		}
	}
	return errors.New("every node that may be harmed is being harmed already")
}

// damage changes the files of a node and starts it with them; cut off from the others, unless it is empty.
func damage(a *attack) error {
	node := a.nodes[0]
	if err := a.ward.down(a.ctx, a.Name, a.ward.kill, a.nodes); err != nil {
		return err
	}
	what, err := a.ward.harm(node, a.Name, a.Damage, a.Seed)
	if a.Damage == TearLastBit && errors.Is(err, ErrUnsupported) { // it has no snapshot yet
		what, err = a.ward.harm(node, a.Name, FlipBit, a.Seed)
	}
	a.note("damage", "%s", what)
	if err != nil {
		return err
	}
	if a.Damage != Wipe {
		if err := a.cut(between(a.nodes, a.others(node), Condition{Drop: true})); err != nil {
			return err
		}
	}
	a.struck = time.Now()
	return a.ward.set(a.ctx, a.Name, a.nodes, func(d *demand) { d.down = false })
}

// letInWhoStarts waits whether the node starts with its damaged files, and connects it if so.
func letInWhoStarts(a *attack) error {
	node := a.nodes[0]
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		if o := a.observer.look(a.ctx, node)[0]; o.err == nil {
			a.ward.taken(node, a.Name)
			a.note("outcome", "it took the damaged files")
			a.struck = time.Now()
			if err := a.cut(nil); err != nil {
				return err
			}
			a.wait()
			return nil
		}
		if !a.sleep(lookEvery) {
			return nil
		}
	}
	a.note("outcome", "it refused the damaged files")
	a.wait()
	return nil
}

func damageFelt(a *attack) string {
	if a.ward.took(a.nodes[0], a.Name) {
		return later(a)
	}
	return silent(a)
}

// later says that a node that took its damaged files did not answer some time after it had.
func later(a *attack) string {
	failed := 0
	for _, o := range a.seen(a.nodes[0]) {
		if o.err != nil {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%s took its damaged files, and did not answer %d times later", a.nodes[0], failed)
}

// watchTheEmpty watches that a node without its files stays out.
func watchTheEmpty(a *attack) error {
	node := a.nodes[0]
	for a.ctx.Err() == nil {
		if o := a.observer.look(a.ctx, node)[0]; o.err == nil && (o.sample.Ready || o.sample.Role == leading) {
			a.ward.taken(node, a.Name)
			a.note("outcome", "it was let in")
			return fmt.Errorf("%s lost all its files and %w", node, ErrLetIn)
		}
		a.sleep(lookEvery)
	}
	a.note("outcome", "it stayed out")
	return nil
}

// ErrLetIn says that the cluster took a node for the one it was before it lost its files.
var ErrLetIn = errors.New("was let into the cluster again under its old name")

func refusal(a *attack) string {
	if len(a.seen(a.nodes[0])) == 0 || a.ward.took(a.nodes[0], a.Name) {
		return ""
	}
	return a.nodes[0] + " was empty and did not become ready"
}

// giveBack has the node run with its old files again, if it took part in nothing with the damaged ones.
func giveBack(a *attack) error {
	if len(a.nodes) == 0 {
		return nil
	}
	node := a.nodes[0]
	defer a.ward.unclaim(node, a.Name)
	if a.ward.harmed(node, a.Name) && !a.ward.took(node, a.Name) {
		err := a.ward.down(a.ctx, a.Name, a.ward.kill, a.nodes)
		if err == nil {
			err = a.ward.restore(node, a.Name)
		}
		if err != nil {
			a.note("leftOut", "%s", node)
			a.ward.exile(node, fmt.Sprintf("its files were damaged by %s and could not be given back: %s", a.Name, err))
			err = errors.Join(err, a.ward.settle(a.ctx, node)) // it goes down before anybody hears it
			return errors.Join(err, a.ward.release(a.ctx, a.Name))
		}
	}
	return a.ward.release(a.ctx, a.Name)
}

// harm damages the files of a node that the fault has down, and keeps the old ones aside. It refuses to harm more nodes
// than the cluster can do without.
func (w *ward) harm(node, fault string, d Damage, seed uint64) (string, error) {
	defer w.lock([]string{node})()
	if w.states[node].up {
		return "", fmt.Errorf("damage %s: it runs", node)
	}
	if err := w.mayHarm(node); err != nil {
		return "", err
	}
	keeper, ok := w.target.(Keeper)
	if !ok {
		return "", fmt.Errorf("files are not kept here: %w", ErrUnsupported)
	}
	if err := keeper.Keep(node); err != nil {
		return "", fmt.Errorf("keep the files of %s: %w", node, err)
	}
	w.mu.Lock()
	if !slices.Contains(w.damaged[node], injury{fault: fault}) {
		w.damaged[node] = append(w.damaged[node], injury{fault: fault})
	}
	w.mu.Unlock()
	what, err := w.target.Damage(node, d, seed)
	if err != nil {
		return what, fmt.Errorf("damage %s: %w", node, err)
	}
	return what, nil
}

// injury is what a fault did to a node's files.
type injury struct {
	fault string
	taken bool // the node took part in the cluster with them, so it is for good
}

// mayHarm says why the files of a node must not be damaged. What was taken counts for the rest of the run.
func (w *ward) mayHarm(node string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, out := w.exiled[node]; out {
		return fmt.Errorf("%s is out already", node)
	}
	hurt := map[string]bool{node: true}
	for other, injuries := range w.damaged {
		if len(injuries) > 0 {
			hurt[other] = true
		}
	}
	if most := minority(len(w.nodes)); len(hurt) > most {
		return fmt.Errorf("damage of %s would be the loss of more than %d nodes", names(hurt), most)
	}
	return nil
}

// restore gives a node that the fault has down the files that it had before.
func (w *ward) restore(node, fault string) error {
	defer w.lock([]string{node})()
	if w.states[node].up {
		return fmt.Errorf("give %s its files back: it runs", node)
	}
	keeper, ok := w.target.(Keeper)
	if !ok {
		return fmt.Errorf("files are not kept here: %w", ErrUnsupported)
	}
	if err := keeper.Restore(node); err != nil {
		return fmt.Errorf("give %s its files back: %w", node, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var left []injury
	for _, i := range w.damaged[node] {
		if i.fault != fault {
			left = append(left, i)
		}
	}
	w.damaged[node] = left
	return nil
}

// taken notes that the node takes part in the cluster with files that the fault damaged. From now on it is like any other.
func (w *ward) taken(node, fault string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.damaged[node] {
		if w.damaged[node][i].fault == fault {
			w.damaged[node][i].taken = true
		}
	}
	if w.claims[node].fault == fault {
		delete(w.claims, node)
	}
}

func (w *ward) took(node, fault string) bool {
	return w.injured(node, injury{fault, true})
}

// harmed says whether the fault damaged the node's files, and they are not given back.
func (w *ward) harmed(node, fault string) bool {
	return w.injured(node, injury{fault, true}) || w.injured(node, injury{fault, false})
}

func (w *ward) injured(node string, i injury) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.damaged[node], i)
}

// claim is a fault's sole right to damage a node's files, so that nobody keeps aside what somebody else has damaged. A node that
// is claimed may end by itself, and that is no news.
type claim struct {
	fault string
	again bool // start the node again whenever it ends
}

func (w *ward) claim(node string, c claim) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if owner, taken := w.claims[node]; taken && owner != c {
		return false
	}
	if _, out := w.exiled[node]; out {
		return false
	}
	w.claims[node] = c
	return true
}

func (w *ward) claimed(node string) (claim, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.claims[node]
	return c, ok
}

func (w *ward) unclaim(node, fault string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.claims[node].fault == fault {
		delete(w.claims, node)
	}
}

// exile keeps a node down for the rest of the run.
func (w *ward) exile(node, reason string) {
	w.want(outcast, node, func(d *demand) { d.down = true })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exiled[node] = reason
}

// outcasts are the nodes that are kept down, with the reasons.
func (w *ward) outcasts() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.exiled)
}

// outcast is the name under which a node is kept down for good.
const outcast = "out of the cluster"
