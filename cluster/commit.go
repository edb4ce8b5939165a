package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
)

var (
	// errNotApplied says that commands surely never reached a log.
	errNotApplied = errors.New("not applied")
	// errUncertain says that commands may be in a log.
	errUncertain = errors.New("may have been applied")
)

// maxEntries bounds the log entries that are on their way to the majority at once. While that many are, groups gather.
// Two at a time would halve what each carries, and an entry costs the same whatever is in it.
const maxEntries = 1

// group is commands that came to the leader together, from one node, already encoded one after the other.
type group struct {
	payload []byte
	count   int
	// done takes the results, one for each command, or errNotApplied or errUncertain. It must not block.
	done func(index uint64, results []fsm.Result, err error)
}

// committer gathers the groups that reach this node while it leads into log entries.
type committer struct {
	node     *Node
	entering chan dispatched // longer than what may be on its way
	stopping chan struct{}
	stopped  chan struct{} // closed when collect has returned

	mu      sync.Mutex // guards what follows
	mode    commitMode
	waiting []group
	bytes   int // of waiting
	count   int // commands in waiting
	entries int // on their way
	muster  muster
}

type commitMode int

const (
	refusing commitMode = iota // this node does not lead
	holding                    // it was elected and is not ready yet: groups wait
	taking                     // it is ready
)

type dispatched struct {
	groups []group
	future raft.ApplyFuture
}

// count returns how many commands the entry holds.
func (d *dispatched) count() int {
	count := 0
	for _, g := range d.groups {
		count += g.count
	}
	return count
}

func newCommitter(n *Node) *committer {
	return &committer{node: n, entering: make(chan dispatched, 64), stopping: make(chan struct{}), stopped: make(chan struct{})}
}

// submit takes a group for the log, or answers at once that it does not.
func (c *committer) submit(g group) {
	c.mu.Lock()
	if c.mode == refusing || c.bytes > c.node.config.MaxWaiting {
		c.mu.Unlock()
		g.done(0, nil, errNotApplied)
		return
	}
	c.waiting = append(c.waiting, g)
	c.bytes += len(g.payload)
	c.count += g.count
	c.mu.Unlock()
	c.flush()
}

// own commits commands of the leader itself, without waiting its turn and in any mode.
func (c *committer) own(ctx context.Context, commands ...fsm.Command) (index uint64, err error) {
	g := group{count: len(commands)}
	for i := range commands {
		g.payload = fsm.AppendCommand(g.payload, &commands[i])
	}
	type answer struct {
		index uint64
		err   error
	}
	answered := make(chan answer, 1)
	g.done = func(index uint64, _ []fsm.Result, err error) { answered <- answer{index, err} }
	c.mu.Lock()
	c.entries++
	c.mu.Unlock()
	c.dispatch([]group{g})
	select {
	case a := <-answered:
		return a.index, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// set changes the mode. Groups that wait are refused when this node stops leading.
func (c *committer) set(mode commitMode) {
	c.mu.Lock()
	c.mode = mode
	var refused []group
	if mode == refusing {
		refused, c.waiting, c.bytes, c.count = c.waiting, nil, 0, 0
	}
	c.mu.Unlock()
	for _, g := range refused {
		g.done(0, nil, errNotApplied)
	}
	c.flush()
}

// flush turns waiting groups into entries as long as it may.
func (c *committer) flush() {
	for {
		c.mu.Lock()
		if c.mode != taking || len(c.waiting) == 0 || c.entries >= maxEntries {
			c.mu.Unlock()
			return
		}
		if wait := c.muster.wait(c.count, time.Now()); wait > 0 {
			c.muster.later(wait, c.flush)
			c.mu.Unlock()
			return
		}
		size, taken := 0, 0
		for _, g := range c.waiting {
			if taken > 0 && size+len(g.payload) > 4*c.node.config.MaxEntry {
				break
			}
			size += len(g.payload)
			c.count -= g.count
			taken++
		}
		groups := c.waiting[:taken:taken]
		c.waiting = c.waiting[taken:]
		if len(c.waiting) == 0 {
			c.waiting = nil
		}
		c.bytes -= size
		c.entries++
		c.mu.Unlock()
		if seeded.AckEarly {
			c.dispatchUnawaited(groups)
			continue
		}
		c.dispatch(groups)
	}
}

// dispatch hands one entry to Raft, which the caller has counted. It does not wait for anything: the library's queue is
// longer than maxEntries.
func (c *committer) dispatch(groups []group) {
	size := 1
	for _, g := range groups {
		size += len(g.payload)
	}
	entry := append(make([]byte, 0, size), fsm.EntryHeader)
	for _, g := range groups {
		entry = append(entry, g.payload...)
	}
	c.entering <- dispatched{groups: groups, future: c.node.core().ApplyLog(raft.Log{Data: entry}, 0)}
}

// collect waits for entries in the order in which they were dispatched and answers their groups, until the committer is
// closed. Nobody waits for it without a deadline: a future may hang for ever when a disk does.
func (c *committer) collect() {
	defer close(c.stopped)
	for {
		var d dispatched
		select {
		case <-c.stopping:
			return
		case d = <-c.entering:
		}
		err := d.future.Error()
		var results []fsm.Result
		if err == nil {
			c.node.teller.tell()
			results, err = resultsOf(d)
		} else {
			err = fmt.Errorf("%w: %w", certainty(err), err)
		}
		index := d.future.Index()
		for _, g := range d.groups {
			if err != nil {
				g.done(0, nil, err)
				continue
			}
			g.done(index, results[:g.count:g.count], nil)
			results = results[g.count:]
		}
		c.mu.Lock()
		c.muster.ended(d.count(), c.count, time.Now())
		c.entries--
		c.mu.Unlock()
		c.flush()
	}
}

func resultsOf(d dispatched) ([]fsm.Result, error) {
	count := d.count()
	results, ok := d.future.Response().([]fsm.Result)
	if !ok || len(results) != count {
		return nil, fmt.Errorf("%w: the machine answered %T for %d commands", errUncertain, d.future.Response(), count)
	}
	return results, nil
}

// certainty tells whether an error of Raft's proves that an entry was not and will not be applied. Only a refusal
// before the entry was appended does; ErrRaftShutdown and ErrLeadershipLost are also given to committed entries.
func certainty(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return errNotApplied
	}
	return errUncertain
}

// idle reports whether no entry is on its way.
func (c *committer) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries == 0 && len(c.waiting) == 0
}

// drain waits until Raft has answered for every entry, at most for as long as a leader takes to notice that it has no
// majority. Once Raft is stopped it does not answer any more.
func (c *committer) drain(limit time.Duration) {
	for deadline := time.Now().Add(limit); !c.idle() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// close ends collect, after Raft has stopped. What Raft has not answered by then it never will; whoever waits for it is
// left behind.
func (c *committer) close() {
	close(c.stopping)
	select {
	case <-c.stopped:
	case <-time.After(10 * pause):
	}
}
