package testbed

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// What a program that Enter runs again is told by its environment.
const (
	insideVariable = "JEPSEN_INSIDE" // the mode whose namespaces it is in
	whyVariable    = "JEPSEN_WHY"    // why not in a stronger one's
	probeVariable  = "JEPSEN_PROBE"  // the mode that it shall only try
)

// Enter brings the program into namespaces of its own, as modes Root and UserNS need: it runs the program again there,
// passes signals on, and exits as that does. A program that wants more than mode Proxy calls it before anything else, with
// the mode that it will open testbeds in. It returns inside, and also where there is no need to enter, or with Auto no way.
//
// All that is made inside is gone when the program ends, however that happens: the kernel sees to it.
func Enter(mode Mode) error {
	switch {
	case os.Getenv(probeVariable) != "":
		probed(Mode(os.Getenv(probeVariable))) // does not return
	case inside() != "":
		return settle(inside())
	case mode == Proxy:
		return nil
	}
	candidates := []Mode{mode}
	if mode == Auto {
		candidates = []Mode{Root, UserNS}
	}
	var reasons []string
	for _, candidate := range candidates {
		err := probe(candidate)
		if err == nil {
			return runInside(candidate, strings.Join(reasons, "; "))
		}
		reasons = append(reasons, fmt.Sprintf("mode %s is not possible here: %v", candidate, err))
	}
	if mode != Auto {
		return errors.New(reasons[0])
	}
	return os.Setenv(whyVariable, strings.Join(reasons, "; "))
}

// inside returns the mode whose namespaces the program is in, or "".
func inside() Mode { return Mode(os.Getenv(insideVariable)) }

// probed does what a probe is for, tells on standard output what fails, and ends the program.
func probed(mode Mode) {
	if err := rehearse(mode); err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// rehearse tries all that a mode needs.
func rehearse(mode Mode) error {
	if err := settle(mode); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "jepsen-probe")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	net, err := newWires([]string{"n1"})
	if err != nil {
		return err
	}
	if err := net.close(); err != nil || mode == UserNS {
		return err
	}
	return rehearseDisk(dir)
}
