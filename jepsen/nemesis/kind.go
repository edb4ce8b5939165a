package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// The families of kinds, which share a colour in pictures.
const (
	Killing      = "kill"
	Pausing      = "pause"
	Partitioning = "partition"
	Packets      = "packet"
	Disks        = "disk"
	Clocks       = "clock"
	Members      = "member"
	Load         = "load"
)

// Kind is a kind of fault.
type Kind struct {
	Name   string
	Family string
	Does   string       // in one sentence, for people
	Proof  string       // what shows that it was felt
	Needs  []Capability // of the place
	Nodes  int          // the fewest that make sense
	// Shortest and Longest bound how long it lasts, where the plan's interval does not suit. 0 is no bound.
	Shortest, Longest time.Duration
	// Harms says that it damages files, so that it is done to a fixed minority alone.
	Harms bool
	// Stops says that nothing can be written while it lasts, so that a plan leaves time to recover between two such.
	Stops bool
	// Bursts says that the workload has to help.
	Bursts bool

	draw func(r *rand.Rand, c *Choice)
	act  act
}

// act is how a fault of some kind is done. aim decides on whom; it may wait for a leader. strike puts it in force. last, which may
// be nil, is what goes on until the attack's ctx ends. felt tells what shows that it was felt, "" for nothing. lift ends it,
// also where strike failed half way, and its ctx outlives the run; nil is to release what the fault wants.
type act struct {
	aim    func(*attack) error
	strike func(*attack) error
	last   func(*attack) error
	felt   func(*attack) string
	lift   func(*attack) error
}

// Kinds returns all kinds, family by family.
func Kinds() []Kind {
	return slices.Concat(killKinds(), pauseKinds(), partitionKinds(), packetKinds(), diskKinds(), damageKinds(), clockKinds(), memberKinds(), loadKinds())
}

func kindNamed(name string) (Kind, error) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("no fault is called %q", name)
}

// Select returns the kinds that are named, in the order of the table. A name is that of a kind or a family, or "all".
func Select(names ...string) ([]Kind, error) {
	var chosen []Kind
	known := make(map[string]bool)
	for _, k := range Kinds() {
		for _, name := range names {
			if name != k.Name && name != k.Family && name != "all" {
				continue
			}
			if !known[k.Name] {
				chosen = append(chosen, k)
			}
			known[name], known[k.Name] = true, true
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("no fault and no family of faults is called %q", name)
		}
	}
	return chosen, nil
}

// unfit says why a kind cannot be had, or "".
func (k Kind) unfit(o Options) string {
	if o.Nodes < k.Nodes {
		return fmt.Sprintf("it needs %d nodes", k.Nodes)
	}
	if k.Bursts && !o.Bursts {
		return "no workload takes bursts"
	}
	for _, need := range k.Needs {
		if err := supports(o.Target, need); err != nil {
			return err.Error()
		}
	}
	return ""
}

// supports asks a target for a capability. No target at all is one that can do everything.
func supports(target Target, need Capability) error {
	if target == nil {
		return nil
	}
	if need == CanKeepFiles {
		if _, ok := target.(Keeper); !ok {
			return fmt.Errorf("files are not kept here: %w", ErrUnsupported)
		}
		return nil
	}
	return target.Supports(need)
}
