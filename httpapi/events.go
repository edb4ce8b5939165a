package httpapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// objects is the scene of a watch of stored objects.
type objects struct{ *watch }

// showState shows all objects of a state as added.
func (w objects) showState(state *fsm.State) error {
	show := func(object *fsm.Object) error {
		if !w.selector.covers(object.Key) || !w.selector.selects(object) {
			return nil
		}
		return w.show(media.EventAdded, object)
	}
	if w.selector.name != "" && w.selector.namespace != "" {
		key := w.selector.kind.key(w.selector.namespace, w.selector.name)
		if object := state.Get(key); object != nil {
			if err := show(object); err != nil {
				return err
			}
		}
	} else {
		for object := range state.Scan(w.selector.kind.resource.Resource, w.selector.namespace, "") {
			if err := show(object); err != nil {
				return err
			}
		}
	}
	return nil
}

// showEvent shows one change, if it concerns the client. What enters the selector is added and what leaves it is
// deleted, whatever happened to it; what leaves is shown as it last was, under the version in which it left.
func (w objects) showEvent(event *fsm.Event) error {
	if !w.selector.covers(event.Object.Key) {
		return nil
	}
	is := event.Type != fsm.Deleted && w.selector.selects(event.Object)
	was := event.Previous != nil && w.selector.selects(event.Previous)
	switch {
	case is && was:
		return w.show(media.EventModified, event.Object)
	case is:
		return w.show(media.EventAdded, event.Object)
	case was && event.Type == fsm.Deleted:
		return w.show(media.EventDeleted, event.Object)
	case was:
		left := &fsm.Object{Key: event.Object.Key, UID: event.Previous.UID, Revision: event.Revision, Data: event.Previous.Data}
		return w.show(media.EventDeleted, left)
	}
	return nil
}

// show puts an event of a stored version into the buffer, in the client's form. One for lists ends the watch.
func (w objects) show(event string, version *fsm.Object) error {
	if err := w.form.Check(false); err != nil {
		return err
	}
	if w.form.Encoding == media.Protobuf {
		buffer, err := w.form.AppendStoredFrame(w.room(), event, w.selector.kind.stored(version))
		if err != nil {
			return err
		}
		return w.emit(buffer)
	}
	rendered, err := w.server.renderings.of(w.selector.kind, version)
	if err != nil {
		return err
	}
	if w.form.Shape == media.Table {
		row, err := w.server.row(w.selector.kind, version)
		if err != nil {
			return err
		}
		return w.showRow(event, version.Revision, row)
	}
	return w.showText(event, rendered)
}

// showText shows an object that is JSON, in an encoding that is made from it.
func (w objects) showText(event string, rendered media.Rendered) error {
	text := rendered.JSON()
	if w.form.Shape == media.Partial {
		text = w.form.AppendPartial(nil, rendered)
	}
	if w.form.Encoding == media.CBOR {
		var err error
		if text, err = w.form.Convert(text); err != nil {
			return err
		}
	}
	return w.emit(w.form.AppendFrame(w.room(), event, text))
}

// showRow shows an event as a Table of one row.
func (w objects) showRow(event string, revision uint64, row media.Row) error {
	meta := metav1.ListMeta{ResourceVersion: version(revision)}
	table, err := w.form.AppendTable(nil, &meta, []media.Row{row}, w.form.include, !w.columns, wallclock.Now())
	if err != nil {
		return err
	}
	w.columns = true
	return w.emit(w.form.AppendFrame(w.room(), event, table))
}

// showMark shows a version, on an object with nothing else to it.
func (w objects) showMark(revision uint64, annotations map[string]string) error {
	if err := w.form.Check(false); err != nil {
		return err
	}
	kind := w.selector.kind
	mark := kind.New()
	mark.SetResourceVersion(version(revision))
	mark.SetAnnotations(annotations)
	if w.form.Encoding == media.Protobuf {
		object, err := renderUnstored(kind, w.form, mark)
		if err != nil {
			return err
		}
		return w.emit(w.form.AppendFrame(w.room(), media.EventBookmark, object))
	}
	rendered, err := kind.EncodeJSON(mark)
	if err != nil {
		return err
	}
	if w.form.Shape == media.Table {
		return w.showRow(media.EventBookmark, revision, kind.Row(mark, rendered))
	}
	return w.showText(media.EventBookmark, rendered)
}
