package cluster

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// stallThreshold is how long a store call may last before this node counts as one whose disk hangs. No healthy
	// disk takes a second for a sync; and a leader that stalls loses writes anyway after 2.5 s, when their deadline
	// ends. After a second the others still have time to elect (half a second to a second) and answer what waits. A
	// shorter threshold would depose leaders for hiccups that clients do not notice. A disk that stalls for 3 s every
	// now and then costs its node the leadership once: the others keep it afterwards, and pre-vote keeps the returning
	// node from disturbing them.
	stallThreshold = time.Second
	// stallLimit is how long a stall may last beyond stallThreshold before the process ends: a supervisor may restart
	// it on a disk that works again, and clients' connections end.
	stallLimit = 10 * time.Second
)

// watchdog watches the store calls in flight. A leader whose disk hangs keeps its followers by heartbeats and cannot
// even be asked to resign (hashicorp/raft issue 503); so while a call hangs the watchdog mutes this node, and if that
// lasts it ends the process.
type watchdog struct {
	mute      func(bool)
	fatal     func(error)
	logger    hclog.Logger
	threshold time.Duration
	limit     time.Duration

	mu      sync.Mutex // guards stalled and the order of calls to mute
	stalled map[*storeCall]struct{}
}

// storeCall is one call in flight. All its fields are guarded by the watchdog's mutex, except those that never change.
type storeCall struct {
	operation string
	started   time.Time
	timer     *time.Timer
	done      bool
}

func newWatchdog(mute func(bool), fatal func(error), logger hclog.Logger) *watchdog {
	return &watchdog{
		mute:      mute,
		fatal:     fatal,
		logger:    logger,
		threshold: stallThreshold,
		limit:     stallLimit,
		stalled:   make(map[*storeCall]struct{}),
	}
}

// watch is called before a store call; the function it returns, after it.
func (w *watchdog) watch(operation string) (done func()) {
	call := &storeCall{operation: operation, started: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	call.timer = time.AfterFunc(w.threshold, func() { w.stall(call) })
	return func() { w.finish(call) }
}

func (w *watchdog) stall(call *storeCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if call.done {
		return
	}
	call.timer = time.AfterFunc(w.limit, func() { w.give(call) })
	w.stalled[call] = struct{}{}
	if len(w.stalled) == 1 {
		w.logger.Error("store call hangs; muting outbound raft traffic so that another node can lead", "operation", call.operation)
		w.mute(true)
	}
}

func (w *watchdog) finish(call *storeCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call.done = true
	call.timer.Stop()
	if _, ok := w.stalled[call]; !ok {
		return
	}
	delete(w.stalled, call)
	if len(w.stalled) == 0 {
		w.logger.Warn("store calls return again; no longer muted", "operation", call.operation, "took", time.Since(call.started))
		w.mute(false)
	}
}

func (w *watchdog) give(call *storeCall) {
	w.mu.Lock()
	done := call.done
	w.mu.Unlock()
	if !done {
		w.fatal(fmt.Errorf("%s has not returned for %s: the disk hangs", call.operation, time.Since(call.started).Round(time.Millisecond)))
	}
}

// ready returns nil, or why this node's disk keeps it from being ready.
func (w *watchdog) ready() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var oldest *storeCall
	for call := range w.stalled {
		if oldest == nil || call.started.Before(oldest.started) {
			oldest = call
		}
	}
	if oldest == nil {
		return nil
	}
	return fmt.Errorf("disk hangs: %s has not returned for %s", oldest.operation, time.Since(oldest.started).Round(time.Millisecond))
}
