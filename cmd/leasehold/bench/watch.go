package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// watch renews Leases while many watches see every renewal, and measures how long each takes to each watcher. The
// renewTime of an event is the intended start of the renewal that caused it.
type watch struct {
	renew
	cancel   context.CancelFunc
	watchers []*watcher
	running  sync.WaitGroup
}

// watcher is one open watch. Its goroutine alone writes the histogram and the error.
type watcher struct {
	call    *call
	latency histogram
	from    atomic.Int64 // Unix microseconds: renewals that should have started before this are not counted
	err     error
}

func (w *watch) prepare(ctx context.Context) error {
	if err := w.renew.prepare(ctx); err != nil {
		return err
	}
	// Each watch has a connection of its own, as it has in a client that is a process of its own.
	ctx, w.cancel = context.WithCancel(ctx)
	path := collectionPath(w.namespace) + "?watch=true&timeoutSeconds=86400&resourceVersion=" + w.newest()
	from := time.Now().Add(w.spec.Warmup).UnixMicro()
	opened := make(chan error, w.spec.Watchers)
	for i := range w.spec.Watchers {
		one := &watcher{call: w.client(i).prepare(http.MethodGet, path, "", "application/json")}
		one.from.Store(from)
		w.watchers = append(w.watchers, one)
		w.running.Go(func() { one.err = one.run(ctx, opened) })
	}
	for range w.watchers {
		if err := <-opened; err != nil {
			w.cancel()
			w.running.Wait()
			return err
		}
	}
	return nil
}

// newest returns the highest version among the Leases: a watch from there sees all renewals of the run and no more.
func (w *watch) newest() string {
	newest := ""
	for _, state := range w.states {
		if len(state.version) > len(newest) || len(state.version) == len(newest) && state.version > newest {
			newest = state.version
		}
	}
	return newest
}

// run reads events until ctx ends. It tells opened once whether the watch was opened.
func (o *watcher) run(ctx context.Context, opened chan<- error) error {
	response, err := o.call.open(ctx, nil)
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body.Close()
		err = &statusError{code: response.StatusCode, body: "watch refused"}
	}
	opened <- err
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watch ended: %w", err)
		}
		if err := o.note(line, time.Now()); err != nil {
			return err
		}
	}
}

func (o *watcher) note(line []byte, now time.Time) error {
	text, ok := between(line, `"renewTime":"`)
	if !ok {
		var event struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(line, &event); err != nil || event.Type == "ERROR" {
			return fmt.Errorf("watch told: %s", clip(string(line), 300))
		}
		return nil // a bookmark
	}
	intended, err := time.Parse(microTime, text)
	if err != nil {
		return err
	}
	if intended.UnixMicro() >= o.from.Load() {
		o.latency.record(now.Sub(intended))
	}
	return nil
}

func (w *watch) finish(context.Context) (*histogram, error) {
	w.cancel()
	w.running.Wait()
	var all histogram
	for _, one := range w.watchers {
		if one.err != nil {
			return nil, one.err
		}
		all.merge(&one.latency)
	}
	return &all, nil
}
