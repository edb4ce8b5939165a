package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// The calls by which the server has the disk keep something, and those by which it takes space in the log's file.
const (
	syncCalls  = "fsync,fdatasync"
	spaceCalls = "pwrite64,ftruncate,fallocate"
)

// detachWithin is more than strace needs to let go of a process.
const detachWithin = 3 * time.Second

// supportsTracing says why a process's calls cannot be tampered with here, if so.
func supportsTracing() error {
	if _, err := exec.LookPath("strace"); err != nil {
		return fmt.Errorf("slow and failing disks need strace, which is not installed: %w", nemesis.ErrUnsupported)
	}
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return nil // a kernel without this restriction
	}
	level, err := strconv.Atoi(strings.TrimSpace(string(scope)))
	if err != nil || level > 2 || level > 0 && os.Geteuid() != 0 {
		return fmt.Errorf("slow and failing disks need strace, which may not look into processes here (ptrace_scope is %s): %w",
			strings.TrimSpace(string(scope)), nemesis.ErrUnsupported)
	}
	return nil
}

// tampering is what strace is told to do to a process's calls.
func tampering(d nemesis.Disk) []string {
	traced, inject := []string{}, []string{}
	if d.SyncDelay > 0 || d.SyncError {
		how := syncCalls
		if d.SyncDelay > 0 {
			how += ":delay_enter=" + strconv.FormatInt(d.SyncDelay.Microseconds(), 10)
		}
		if d.SyncError {
			how += ":error=EIO"
		}
		traced, inject = append(traced, syncCalls), append(inject, "-e", "inject="+how)
	}
	if d.WriteError {
		traced, inject = append(traced, spaceCalls), append(inject, "-e", "inject="+spaceCalls+":error=ENOSPC")
	}
	return append([]string{"-e", "trace=" + strings.Join(traced, ",")}, inject...)
}

// Disk sets what happens when a node syncs or writes, also in its later lives. It slows everything that the node does, as
// strace looks at each call.
func (t *Testbed) Disk(name string, d nemesis.Disk) error {
	nodes, err := t.find(name)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if d != (nemesis.Disk{}) {
		if err := supportsTracing(); err != nil {
			return fmt.Errorf("disk of %s: %w", name, err)
		}
	}
	n := nodes[0]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disk = d
	if err := t.tamper(n); err != nil {
		return fmt.Errorf("disk of %s: %w", name, err)
	}
	return nil
}

// tamper has the running process's calls tampered with as the node's disk says, and no other way. n.mu is held.
func (t *Testbed) tamper(n *node) error {
	if err := n.untamper(); err != nil {
		return err
	}
	if n.disk == (nemesis.Disk{}) || n.life == nil || !n.life.running() {
		return nil
	}
	argv := append([]string{"strace", "-f", "-qq", "-o", os.DevNull, "-p", strconv.Itoa(n.life.pid())}, tampering(n.disk)...)
	log := filepath.Join(n.dir, "strace.log")
	tracer, err := startProcess(t.net.launcher(n.id), argv, os.Environ(), log, func(*process) {})
	if err != nil {
		return err
	}
	n.tracer = tracer
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for range 5000 {
		switch {
		case !n.life.running():
			return nil // there is nothing to do harm to any more
		case !tracer.running():
			return fmt.Errorf("strace ended: %s: %s", tracer.fate(), strings.Join(logTail(log, 3), "; "))
		case allTraced(n.life.pid(), tracer.pid()):
			life := n.life
			t.watchers.Go(func() { letGo(life, tracer) })
			return nil
		}
		<-look.C
	}
	return errors.Join(errors.New("strace does not take hold of the process"), n.untamper())
}

// untamper lets the process go on undisturbed. n.mu is held.
func (n *node) untamper() error {
	tracer := n.tracer
	if tracer == nil {
		return nil
	}
	n.tracer = nil
	if err := tracer.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if tracer.await(detachWithin) {
		return nil
	}
	// Whose tracer is killed is let go too.
	if err := tracer.signal(syscall.SIGKILL); err != nil {
		return err
	}
	if !tracer.await(killedWithin) {
		return fmt.Errorf("strace, process %d, does not end", tracer.pid())
	}
	return nil
}

// letGo ends the tracer of a process that has ended by itself: strace may hold on to such a one, and then its end is not
// seen. It returns when the tracer has ended.
func letGo(life, tracer *process) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-tracer.ended:
			return
		case <-look.C:
			if stateOf(life.pid()) == 'Z' {
				_ = tracer.signal(syscall.SIGKILL) // fails when it has ended
			}
		}
	}
}

// forget ends the tracer of a process that was killed, so that nothing holds up the news of its end.
func (n *node) forget(killed *process) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tracer == nil || n.life != killed {
		return nil
	}
	return n.tracer.signal(syscall.SIGKILL)
}

// allTraced tells whether every thread of a process is in the hands of a tracer.
func allTraced(pid, tracer int) bool {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		return false
	}
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err != nil {
			continue // that thread has ended
		}
		if !strings.Contains(string(status), fmt.Sprintf("\nTracerPid:\t%d\n", tracer)) {
			return false
		}
	}
	return true
}
