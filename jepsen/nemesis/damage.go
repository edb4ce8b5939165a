package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
