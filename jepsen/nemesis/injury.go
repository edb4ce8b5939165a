package nemesis

import (
	"fmt"
	"maps"
	"slices"
)

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
