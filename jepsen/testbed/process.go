package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// process is one life of a node: from its start to its end.
type process struct {
	cmd   *exec.Cmd
	asked atomic.Bool   // its end was asked for, and is no news
	ended chan struct{} // closed after err is set
	err   error
}

// startProcess runs argv in a process group of its own, so that an interrupt from the terminal reaches the harness alone.
// The process dies with the harness, however that ends. What it prints is added to log. ended is called once, when it has
// ended, before anybody who waits is told.
func startProcess(by *launcher, argv, env []string, log string, ended func(*process)) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = childAttributes()
	if err := by.do(cmd.Start); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() { // ends with the process, which the testbed waits for
		p.err = cmd.Wait()
		ended(p)
		close(p.ended)
	}()
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

// signal sends a signal. To a process that has ended it does nothing; the number is never another process's.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s to process %d: %w", s, p.pid(), err)
	}
	return nil
}

// await waits for the end, for so long at most, and tells whether it came.
func (p *process) await(atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// fate says how an ended process ended.
func (p *process) fate() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

// tailBytes bounds how much of a log's end is looked at.
const tailBytes = 64 << 10

// logTail returns the last lines of a log, or why it cannot be read.
func logTail(path string, lines int) []string {
	file, err := os.Open(path)
	if err != nil {
		return []string{err.Error()}
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := file.Seek(-tailBytes, io.SeekEnd); err != nil {
			return []string{err.Error()}
		}
	}
	data, err := io.ReadAll(io.LimitReader(file, tailBytes))
	if err != nil {
		return []string{err.Error()}
	}
	all := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return all[max(0, len(all)-lines):]
}
