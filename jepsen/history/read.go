package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
)

// maxLine bounds one line: a list of a few thousand objects.
const maxLine = 64 << 20

// Read puts a history together from its lines. A last line that was cut short, as by the death of the harness, is left
// out; any other damage is an error with the line's number.
func Read(in io.Reader) (*History, error) {
	b := NewBuilder()
	lines := bufio.NewReaderSize(in, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return b.History(), nil // what has no end of line was cut short
		}
		if err != nil {
			return nil, fmt.Errorf("history line %d: %w", number, err)
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("history line %d: longer than %d bytes", number, maxLine)
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("history line %d: %w", number, err)
		}
		if err := b.Add(e); err != nil {
			return nil, fmt.Errorf("history line %d: %w", number, err)
		}
	}
}

// Builder puts a history together event by event.
type Builder struct {
	h       History
	open    map[string]int // process to its open operation
	streams map[string]int // process to its open stream
	windows map[string]int // fault name to its window
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	return &Builder{open: make(map[string]int), streams: make(map[string]int), windows: make(map[string]int)}
}

// Add takes the next event.
func (b *Builder) Add(e Event) error {
	b.h.End = max(b.h.End, e.Time)
	switch e.Type {
	case Invoke:
		return b.invoke(e)
	case OK, Fail, Info:
		return b.complete(e)
	case Seen, End:
		return b.stream(e)
	case Start, Stop:
		return b.fault(e)
	case Probe:
		b.h.Samples = append(b.h.Samples, e)
	case Lead, Yield:
		b.h.Tenures = append(b.h.Tenures, e)
	default:
		return fmt.Errorf("unknown type %q", e.Type)
	}
	return nil
}

func (b *Builder) invoke(e Event) error {
	if _, busy := b.open[e.Process]; busy {
		return fmt.Errorf("process %s calls while it has a call open", e.Process)
	}
	if _, busy := b.streams[e.Process]; busy {
		return fmt.Errorf("process %s calls while it has a watch open", e.Process)
	}
	if e.Request == nil {
		return fmt.Errorf("process %s calls %s without a request", e.Process, e.F)
	}
	if e.F == Watch {
		b.streams[e.Process] = len(b.h.Streams)
		b.h.Streams = append(b.h.Streams, Stream{Index: e.Index, Process: e.Process, Node: e.Node, Request: e.Request,
			Outcome: Info, Invoked: e.Time, Opened: Never, Ended: Never})
		return nil
	}
	b.open[e.Process] = len(b.h.Operations)
	b.h.Operations = append(b.h.Operations, Operation{Index: e.Index, Process: e.Process, F: e.F, Node: e.Node, Request: e.Request,
		Outcome: Info, Invoked: e.Time, Returned: Never, Settled: Never})
	return nil
}

func (b *Builder) complete(e Event) error {
	if i, ok := b.streams[e.Process]; ok {
		s := &b.h.Streams[i]
		s.Outcome, s.Answer = e.Type, e.Answer
		if e.Type == OK {
			s.Opened = e.Time
		} else {
			s.Ended = e.Time
			delete(b.streams, e.Process)
		}
		return nil
	}
	i, ok := b.open[e.Process]
	if !ok {
		return fmt.Errorf("process %s answers without a call", e.Process)
	}
	delete(b.open, e.Process)
	op := &b.h.Operations[i]
	op.Outcome, op.Answer, op.Settled = e.Type, e.Answer, e.Time
	if e.Type != Info {
		op.Returned = e.Time
	}
	return nil
}

func (b *Builder) stream(e Event) error {
	i, ok := b.streams[e.Process]
	if !ok {
		return fmt.Errorf("process %s has no watch open", e.Process)
	}
	s := &b.h.Streams[i]
	if e.Type == End {
		s.Ended, s.Reason = e.Time, e.Note
		delete(b.streams, e.Process)
		return nil
	}
	if e.Change == nil {
		return fmt.Errorf("process %s saw nothing", e.Process)
	}
	s.Changes = append(s.Changes, Arrival{Index: e.Index, Time: e.Time, Change: e.Change})
	return nil
}

func (b *Builder) fault(e Event) error {
	if e.Fault == nil {
		return errors.New("a fault without a description")
	}
	if e.Type == Start {
		b.windows[e.Fault.Name] = len(b.h.Windows)
		b.h.Windows = append(b.h.Windows, Window{Fault: *e.Fault, Kind: e.F, Index: e.Index, Start: e.Time, Stop: Never})
		return nil
	}
	i, ok := b.windows[e.Fault.Name]
	if !ok {
		return fmt.Errorf("fault %s stops and never started", e.Fault.Name)
	}
	w := &b.h.Windows[i]
	w.Stop, w.Effect = e.Time, e.Fault.Effect
	if e.Fault.Error != "" {
		w.Error = e.Fault.Error
	}
	if len(e.Fault.Nodes) > 0 {
		w.Nodes = e.Fault.Nodes
	}
	if len(e.Fault.Detail) > 0 {
		w.Detail = e.Fault.Detail
	}
	return nil
}

// History returns what was put together so far. The builder must not be used any more.
func (b *Builder) History() *History {
	sort.SliceStable(b.h.Operations, func(i, j int) bool { return b.h.Operations[i].Invoked < b.h.Operations[j].Invoked })
	return &b.h
}
