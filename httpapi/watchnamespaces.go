package httpapi

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

// watchNamespaces follows the namespaces that something is in: one is added with its first object and deleted with its
// last. The founding ones are always there.
func (s *server) watchNamespaces(q *request) (*response, error) {
	options, err := s.namespaceOptions(q)
	if err != nil {
		return nil, err
	}
	w := s.newWatch(q, options, comingAndGoing)
	w.scene = &inhabited{watch: w}
	return w.begin(q, options)
}

// inhabited is the scene of a watch of namespaces.
type inhabited struct {
	*watch
	objects map[string]int // in each namespace after the last event looked at; nil before there was any
}

func (w *inhabited) showState(state *fsm.State) error {
	w.count(state)
	for _, name := range w.server.namespacesIn(state) {
		if err := w.show(media.EventAdded, name, state.Revision()); err != nil {
			return err
		}
	}
	return nil
}

// count takes stock of a state.
func (w *inhabited) count(state *fsm.State) {
	w.objects = make(map[string]int)
	for _, name := range w.server.namespacesIn(state) {
		for _, resource := range w.server.resources {
			if n := state.Count(resource, name, ""); n > 0 {
				w.objects[name] += n
			}
		}
	}
}

func (w *inhabited) showEvent(event *fsm.Event) error {
	if event.Type == fsm.Modified {
		return nil
	}
	if w.objects == nil {
		before, err := w.server.store.History().At(event.Revision - 1)
		if errors.Is(err, fsm.ErrExpired) {
			w.fail(w.tooOld())
		}
		if err != nil {
			return err
		}
		w.count(before)
	}
	name := event.Object.Key.Namespace
	if event.Type == fsm.Added {
		w.objects[name]++
		if w.objects[name] == 1 && !isFounding(name) {
			return w.show(media.EventAdded, name, event.Revision)
		}
		return nil
	}
	if w.objects[name]--; w.objects[name] > 0 {
		return nil
	}
	delete(w.objects, name)
	if isFounding(name) {
		return nil
	}
	return w.show(media.EventDeleted, name, event.Revision)
}

func (w *inhabited) show(event, name string, revision uint64) error {
	if !w.selector.selectsNamespace(name) {
		return nil
	}
	namespace := namespaceOf(name, revision)
	return w.frame(event, &namespace)
}

func (w *inhabited) showMark(revision uint64, annotations map[string]string) error {
	return w.frame(media.EventBookmark, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: version(revision), Annotations: annotations},
	})
}

// frame puts an event into the buffer.
func (w *inhabited) frame(event string, namespace *corev1.Namespace) error {
	namespace.TypeMeta = namespaceKind
	columns := namespaceColumns
	if w.columns {
		columns.Definitions = nil // told before
	}
	w.columns = true
	form := w.form
	form.Pretty = false // an event is one line
	object, err := form.EncodeShaped(namespace, &columns, form.include)
	if err != nil {
		return err
	}
	return w.emit(w.form.AppendFrame(w.room(), event, object))
}
