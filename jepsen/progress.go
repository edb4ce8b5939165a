package jepsen

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// progress counts what happens, and tells it on one line that is written over.
type progress struct {
	out   io.Writer
	live  bool // out is a terminal, where a line can be written over
	began time.Time
	limit time.Duration

	mu      sync.Mutex // guards what follows
	ok      int
	failed  int
	unknown int
	open    int
	inforce []string // faults, in the order they began
	strikes int
	leader  string
	term    uint64
	step    string
	streams map[string]bool // processes that hold a watch, whose answer is no operation's
}

func newProgress(out io.Writer, live bool, limit time.Duration) *progress {
	return &progress{out: out, live: live, began: time.Now(), limit: limit, streams: make(map[string]bool)}
}

// follow takes the next line of the history to account.
func (p *progress) follow(e history.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case history.Invoke:
		if e.F == history.Watch {
			p.streams[e.Process] = true
		} else {
			p.open++
		}
	case history.OK, history.Fail, history.Info:
		if p.streams[e.Process] {
			if e.Type != history.OK {
				delete(p.streams, e.Process)
			}
			return
		}
		p.open--
		switch e.Type {
		case history.OK:
			p.ok++
		case history.Fail:
			p.failed++
		default:
			p.unknown++
		}
	case history.End:
		delete(p.streams, e.Process)
	case history.Start:
		p.strikes++
		p.inforce = append(p.inforce, e.Fault.Name)
	case history.Stop:
		p.inforce = slices.DeleteFunc(p.inforce, func(name string) bool { return name == e.Fault.Name })
	case history.Probe:
		if s := e.Sample; s != nil && s.Role == "leader" && s.Term >= p.term {
			p.leader, p.term = e.Node, s.Term
		}
	}
}

// say begins another step of the run.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = fmt.Sprintf(format, args...)
	p.write(p.step + "\n")
}

// tick tells how things stand.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	leader := p.leader
	if leader == "" {
		leader = "?"
	}
	faults := strings.Join(p.inforce, " ")
	if faults == "" {
		faults = "none"
	}
	p.write(fmt.Sprintf("%4.0f of %.0f s  %d ok, %d refused, %d unknown, %d open, %d watches  leader %s (term %d)  faults so far %d, now: %s",
		time.Since(p.began).Seconds(), p.limit.Seconds(), p.ok, p.failed, p.unknown, p.open, len(p.streams), leader, p.term, p.strikes, faults))
}

func (p *progress) write(line string) {
	if p.live {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintf(p.out, "%s\n", strings.TrimSuffix(line, "\n"))
}
