package testbed

import (
	"cmp"
	"fmt"
	"os"
)

// choosePlace makes the network and the disks of the mode that is wanted, or of the strongest that is there.
func (t *Testbed) choosePlace() (err error) {
	within := inside()
	t.mode = t.options.Mode
	if t.mode == Auto {
		t.mode = cmp.Or(within, Proxy)
		t.why = os.Getenv(whyVariable)
		if t.mode == Proxy && t.why == "" {
			t.why = "the program was not run in namespaces of its own"
		}
	}
	if t.mode != Proxy && t.mode != within {
		return fmt.Errorf("mode %s: the program was not run in namespaces of its own; %s", t.mode, os.Getenv(whyVariable))
	}
	if t.mode == Proxy {
		t.net, err = newProxies(t.order, t.options.BasePort)
	} else {
		t.net, err = newWires(t.order)
	}
	if err != nil {
		return err
	}
	if t.mode != Root {
		t.disks = folders{t.mode}
		return nil
	}
	nodes, err := t.find(t.order...)
	if err != nil {
		return err
	}
	t.disks, err = newImages(nodes, t.options.DiskBytes)
	return err
}
