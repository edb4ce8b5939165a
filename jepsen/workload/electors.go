package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// Electors start processes of electors.
type Electors interface {
	// Start starts a process that does RunElectors with the task.
	Start(ctx context.Context, task ElectorTask) (ElectorProcess, error)
}

// ElectorProcess is such a process.
type ElectorProcess interface {
	Lines() io.Reader // what RunElectors writes, until the process ends
	Signal(os.Signal) error
	// Stop has the process end in good order, or kills it where it does not, and waits for it.
	Stop() error
}

// ElectorTask is what a process of electors is told.
type ElectorTask struct {
	Name     string   `json:"name"`
	URLs     []string `json:"urls"` // of the nodes, in the order in which they are tried
	Token    string   `json:"token,omitempty"`
	CA       string   `json:"ca,omitempty"`       // certificates in PEM to know the nodes by; without, the system's
	Insecure bool     `json:"insecure,omitempty"` // any certificate will do
	Leases   []string `json:"leases"`             // namespace/name; one elector for each
	// Encoding is the media type in which they write: application/json or Kubernetes' protobuf.
	Encoding string `json:"encoding"`
	Seed     uint64 `json:"seed"`
	Timing
}

// ElectorLine is a line that a process of electors writes.
type ElectorLine struct {
	Elector string       `json:"elector"`
	Lease   string       `json:"lease"`
	Type    history.Type `json:"type"`  // Lead or Yield
	Clock   int64        `json:"clock"` // CLOCK_MONOTONIC in nanoseconds
}

// Processes are Electors of the operating system.
type Processes struct {
	// Command is a program and its arguments that reads a task from its standard input and does RunElectors. It ends when
	// that input ends, and so never outlives the harness for long.
	Command []string
	// CA and Insecure are a task's.
	CA       string
	Insecure bool
}

// Start starts one process.
func (p Processes) Start(ctx context.Context, task ElectorTask) (ElectorProcess, error) {
	task.CA, task.Insecure = p.CA, p.Insecure
	description, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	// Its life ends with Stop, not with ctx: it is to tell that it yields.
	command := exec.Command(p.Command[0], p.Command[1:]...)
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	running := &process{command: command, in: in, lines: read}
	command.Stdout = write
	command.Stderr = &running.complaint
	err = command.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, err
	}
	if _, err := in.Write(append(description, '\n')); err != nil {
		return nil, errors.Join(err, running.Stop())
	}
	return running, nil
}

// process is one of the operating system's.
type process struct {
	command   *exec.Cmd
	in        io.Closer
	lines     *os.File
	complaint tail
}

func (p *process) Lines() io.Reader { return p.lines }

func (p *process) Signal(s os.Signal) error { return p.command.Process.Signal(s) }

// stopping is how long a process may take to end.
const stopping = 10 * time.Second

func (p *process) Stop() error {
	p.in.Close()
	kill := time.AfterFunc(stopping, func() { p.command.Process.Kill() })
	defer kill.Stop()
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("electors: %w: %s", err, strings.TrimSpace(p.complaint.String()))
	}
	return nil
}

// tail keeps the last of what is written.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-2000):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }

// listen records what the process's electors tell until its lines end.
func (h *host) listen(process ElectorProcess, offset int64) error {
	h.held = make(map[string]history.Event)
	for lines := bufio.NewScanner(process.Lines()); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		var line ElectorLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("electors %s wrote %q: %w", h.task.Name, lines.Text(), err)
		}
		e := history.Event{Process: line.Elector, Type: line.Type, Tenure: &history.Tenure{Key: line.Lease, Holder: line.Elector, Client: h.task.Name,
			At: line.Clock + offset, Disturb: h.disturbed, Duration: h.task.LeaseDuration.Nanoseconds()}}
		h.scene.Recorder.Record(e)
		if line.Type == history.Lead {
			h.held[line.Elector] = e
		} else {
			delete(h.held, line.Elector)
		}
	}
}

// clockOffset is what must be added to CLOCK_MONOTONIC to get the time of a history.
func clockOffset(r *history.Recorder) (int64, error) {
	clock, err := monotonic()
	return r.Now() - clock, err
}
