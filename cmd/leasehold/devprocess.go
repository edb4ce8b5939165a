package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one child of a development cluster. It runs in a process group of its own, so that an interrupt from the
// terminal reaches only the parent, which then stops the children in order; and it holds a pipe from the parent, whose
// end stops it if the parent is killed.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed after err is written
	err   error
}

// startProcess starts this binary again with args. Its output is appended to logFile and its number is in pidFile for
// as long as it runs.
func startProcess(name string, args []string, logFile, pidFile string) (*process, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	pidError := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600)
	go func() {
		defer close(p.ended)
		p.err = cmd.Wait()
		os.Remove(pidFile)
	}()
	if pidError != nil {
		p.kill()
		return nil, pidError
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// running tells whether the process has not ended yet.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// fate says how an ended process ended.
func (p *process) fate() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

// stop asks the process to end and waits; after grace it is killed.
func (p *process) stop(grace time.Duration) error {
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.kill()
		return fmt.Errorf("%s had to be killed: it did not stop within %s", p.name, grace)
	}
	if p.err != nil {
		return fmt.Errorf("%s stopped with %w", p.name, p.err)
	}
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only when it has ended
	<-p.ended
}

// logTail returns the last lines of a log file, for telling why a process ended.
func logTail(file string, lines int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
