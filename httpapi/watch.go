package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/fsm/seeded"
	"github.com/leasehold/leasehold/httpapi/media"
)

const (
	// A watch whose client names no timeout lasts between once and twice this long, so that clients do not all come
	// back at one time.
	minWatch = 30 * time.Minute

	firstBookmark = time.Second // after the start
	bookmarkEvery = time.Minute
	lastBookmark  = 2 * time.Second // before the timeout

	watchBatch = 512 // events looked at in one go

	droppedAbove = 64 // changes that a watch with the fault seeded.WatchDrop may be behind
	aheadBy      = 16 // changes that a bookmark with the fault seeded.BookmarkAhead is ahead
)

// watch is one watch under way, on its request's own goroutine. It holds no events: its cursor says how far into the
// history the client has been told, and a client too slow for the history is told that its version has expired.
type watch struct {
	watcher
	server   *server
	form     form
	selector selector
	scene    scene
	out      output
	cursor   uint64 // every event up to this revision has been shown, or did not concern the client

	bookmarks bool          // wanted
	closing   bool          // one of them closes what is shown at the start
	columns   bool          // a Table's columns have been told
	timeout   time.Duration // how long it lasts

	buffer  []byte  // frames not written yet
	lent    *[]byte // what buffer began as, for the pool
	flushed bool    // all that was written is on its way, the header included
}

// scene is what a watch shows. Its methods put events into the watch's buffer.
type scene interface {
	showState(state *fsm.State) error                              // all that is there, as added
	showEvent(event *fsm.Event) error                              // one change, if it concerns the client
	showMark(revision uint64, annotations map[string]string) error // a bookmark
}

// start is what a watch shows before it follows the history.
type start struct {
	state  *fsm.State // whose objects are shown as added; nil for none
	failed error      // told in place of everything
}

// watch follows the changes of a namespace's objects or of all.
func (s *server) watch(q *request) (*response, error) {
	options, err := s.listOptions(q)
	if err != nil {
		return nil, err
	}
	w := s.newWatch(q, options, options.selector.interest())
	w.scene = objects{w}
	return w.begin(q, options)
}

func (s *server) newWatch(q *request, options *listOptions, of interest) *watch {
	return &watch{
		watcher: watcher{interest: of, wake: make(chan struct{}, 1)},
		server:  s, form: q.form, selector: options.selector,
		bookmarks: options.AllowWatchBookmarks,
		timeout:   watchTimeout(options.TimeoutSeconds),
	}
}

// begin finds out where a watch begins. Without a version, or with 0, it begins with what is there; sendInitialEvents
// says so or otherwise for any version.
func (w *watch) begin(q *request, options *listOptions) (*response, error) {
	s := w.server
	revision, err := options.version()
	if err != nil {
		return nil, err
	}
	select {
	case <-s.store.Serving():
		return nil, fmt.Errorf("%w: %v", cluster.ErrUnavailable, s.store.Ready())
	default:
	}
	w.cursor = revision
	if seeded.WatchDupOnResume && revision > fsm.FirstRevision {
		w.cursor--
	}
	if seeded.WatchFutureOld {
		w.cursor = min(w.cursor, s.store.State().Revision())
	}
	initial := revision == 0
	if options.SendInitialEvents != nil {
		initial = *options.SendInitialEvents
		w.closing = initial
	}
	var first start
	switch {
	case options.ResourceVersion == "":
		if first.state, err = s.newest(); err != nil {
			return nil, err
		}
	case initial || revision == 0:
		first.state, err = s.notOlder(q.context(), revision)
		if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			first.failed = err // told as an event
		} else if err != nil {
			return nil, err
		}
	}
	if first.state != nil {
		w.cursor = first.state.Revision()
		if !initial {
			first.state = nil
		}
	}
	if err := w.form.checkStream(); err != nil {
		return nil, err
	}
	return &response{code: http.StatusOK, stream: func(out http.ResponseWriter) { w.serve(q, out, first) }}, nil
}

// watchTimeout is how long a watch lasts for which its client asked for so many seconds, or nothing.
func watchTimeout(seconds *int64) time.Duration {
	if seconds != nil && *seconds != 0 {
		return time.Duration(max(*seconds, 0)) * time.Second
	}
	return minWatch + rand.N(minWatch)
}

// serve writes the answer until the watch ends.
func (w *watch) serve(q *request, out http.ResponseWriter, first start) {
	control := http.NewResponseController(out)
	_ = control.SetWriteDeadline(time.Time{}) // a client that takes nothing is found out by abortStalled
	if isWebSocket(q.http) {
		serveSocket(q, out, func(ctx context.Context, socket output) { w.run(ctx, socket, first) })
		return
	}
	out.Header()["Content-Type"] = []string{w.form.StreamType()}
	out.WriteHeader(http.StatusOK)
	w.run(q.context(), stream{out, control}, first)
}

// run shows what is there and then what changes, until the context, the timeout or the client ends it, or this node does
// not serve any more.
func (w *watch) run(ctx context.Context, out output, first start) {
	end := time.Now().Add(w.timeout)
	w.out, w.abort = out, out.abort
	interests, serving := w.server.interests, w.server.store.Serving()
	interests.join(&w.watcher)
	defer interests.leave(&w.watcher)

	if first.failed != nil {
		w.fail(first.failed)
		return
	}
	if first.state != nil && w.showStart(first.state) != nil || w.flush() != nil {
		return
	}
	next := w.nextBookmark(time.Now(), end, firstBookmark)
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	for {
		if err := w.catchUp(); err != nil {
			return
		}
		select {
		case <-w.wake:
			if w.lost.Load() {
				w.fail(w.tooOld())
				return
			}
			w.skip(w.next.Swap(0))
			if seeded.WatchDrop {
				w.dropOldest()
			}
		case now := <-timer.C:
			if !now.Before(end) {
				return
			}
			if w.showBookmark() != nil {
				return
			}
			timer.Reset(time.Until(w.nextBookmark(now, end, bookmarkEvery)))
		case <-ctx.Done():
			return
		case <-serving:
			return
		}
	}
}

// showStart shows what is there, and the bookmark that closes it.
func (w *watch) showStart(state *fsm.State) error {
	if err := w.scene.showState(state); err != nil || !w.bookmarks || !w.closing {
		return err
	}
	return w.scene.showMark(state.Revision(), initialEventsEnd)
}

// nextBookmark says when to wake up next: for a bookmark, of which one is due shortly before the end, or for the end.
func (w *watch) nextBookmark(now, end time.Time, after time.Duration) time.Time {
	last := end.Add(-lastBookmark)
	switch next := now.Add(after); {
	case !w.bookmarks, !now.Before(last):
		return end
	case next.Before(last):
		return next
	}
	return last
}

// skip moves the cursor to just before an event of interest: there is none between.
func (w *watch) skip(revision uint64) {
	if revision > w.cursor+1 {
		w.cursor = revision - 1
	}
}

// dropOldest is what a watch with a buffer too small would do, for the fault seeded.WatchDrop.
func (w *watch) dropOldest() {
	if newest := w.server.store.State().Revision(); newest > w.cursor+droppedAbove {
		w.cursor = newest - droppedAbove
	}
}

// catchUp shows all events that are there by now.
func (w *watch) catchUp() error {
	history := w.server.store.History()
	for round := 0; ; round++ {
		if seeded.WatchDrop && round > 0 {
			w.dropOldest()
		}
		events, _, err := history.After(w.cursor, watchBatch)
		if seeded.WatchGapAfterSnapshot && errors.Is(err, fsm.ErrExpired) && w.cursor > fsm.FirstRevision {
			w.cursor = history.Oldest() // what a version expires by, in a short run, is a snapshot
			continue
		}
		if errors.Is(err, fsm.ErrExpired) {
			w.fail(w.tooOld())
			return err
		}
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return w.flush()
		}
		for i := range events {
			if err := w.scene.showEvent(&events[i]); err != nil {
				return err
			}
		}
		w.cursor = events[len(events)-1].Revision
	}
}

// showBookmark tells the client how far it has come. All that concerns it up to the position of who wakes has been shown,
// unless it was just rung. A watch from a version that is yet to come has come nowhere.
func (w *watch) showBookmark() error {
	if !w.bookmarks {
		return nil
	}
	position := w.server.interests.position.Load()
	if w.next.Load() == 0 && position > w.cursor {
		w.cursor = position
	}
	if w.cursor > w.server.store.State().Revision() {
		return nil
	}
	mark := w.cursor
	if seeded.BookmarkAhead {
		mark = w.server.store.State().Revision() + aheadBy
	}
	if err := w.scene.showMark(mark, nil); err != nil {
		return err
	}
	return w.flush()
}

// tooOld is a watch from a version that is forgotten, or that its client was too slow to follow.
func (w *watch) tooOld() error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", w.cursor, w.server.store.History().Oldest()))
}

// fail shows an error as the last event. What becomes of it makes no difference any more.
func (w *watch) fail(err error) {
	status := statusOf(err)
	status.APIVersion, status.Kind = "v1", "Status"
	plain := media.Accepted{Encoding: w.form.Encoding}
	object, err := plain.Encode(status)
	if err == nil && w.emit(plain.AppendFrame(w.room(), media.EventError, object)) == nil {
		_ = w.flush()
	}
}

// initialEventsEnd marks the bookmark that closes the initial events.
var initialEventsEnd = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
