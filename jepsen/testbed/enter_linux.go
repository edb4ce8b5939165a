package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// again is this program once more, in the namespaces of a mode. It dies with the thread that starts it.
func again(mode Mode, environment ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = childAttributes()
	switch mode {
	case Root:
		if os.Geteuid() != 0 {
			return nil, errors.New("it needs root")
		}
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWNS
	case UserNS:
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	default:
		return nil, fmt.Errorf("%q has no namespaces", mode)
	}
	return cmd, nil
}

// probe says what a mode lacks here, by trying it.
func probe(mode Mode) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := again(mode, probeVariable+"="+string(mode))
	if err != nil {
		return err
	}
	said, err := cmd.Output()
	if said = bytes.TrimSpace(said); err != nil && len(said) > 0 {
		return errors.New(string(said))
	}
	return err
}

// runInside runs the program in the namespaces of a mode and ends as it does. It returns only if it cannot be run.
func runInside(mode Mode, why string) error {
	runtime.LockOSThread() // until the end of this process
	cmd, err := again(mode, insideVariable+"="+string(mode), whyVariable+"="+why)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { // ends with this process
		for s := range signals {
			_ = cmd.Process.Signal(s) // fails when it has ended
		}
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() < 0:
		os.Exit(128 + int(exit.Sys().(syscall.WaitStatus).Signal()))
	}
	os.Exit(exit.ExitCode())
	return nil
}

// settle is the first thing inside.
func settle(mode Mode) error {
	if mode == Root {
		// Without this, what is mounted here would be mounted outside too.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("keep mounts private: %w", err)
		}
	}
	return raise("lo", nil, 0)
}
