package testbed

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// awaitStopped waits until a process stands still after SIGSTOP. One that has ended does too.
func awaitStopped(p *process) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for range 5000 {
		state := stateOf(p.pid())
		if state == 'T' || state == 't' || !p.running() {
			return nil
		}
		<-look.C
	}
	return fmt.Errorf("process %d does not stop", p.pid())
}

// stateOf is the letter for a process's state, or 0.
func stateOf(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// pid (name) state ...: the name may hold anything, also parentheses.
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	if len(after) < 2 {
		return 0
	}
	return after[1]
}
