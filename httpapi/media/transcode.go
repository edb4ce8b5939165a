package media

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"
)

// Render renders a stored object as JSON.
func (s Stored) Render() (Rendered, error) {
	if rendered, ok := s.transcode(); ok {
		return rendered, nil
	}
	o, err := s.Decode()
	if err != nil {
		return Rendered{}, err
	}
	return s.Codec.EncodeJSON(o)
}

// transcode writes JSON straight from protobuf, without an object between. It can, since both have their fields in the same
// order when Marshal wrote the one and encoding/json would write the other; it gives up on anything in another order, or
// that Marshal would not have written.
func (s Stored) transcode() (Rendered, bool) {
	metadata, rest, ok := field(s.Data)
	if !ok || s.Data[0] != tagMetadata {
		return Rendered{}, false
	}
	spec, rest, ok := field(rest)
	if !ok || len(rest) > 0 || s.Data[len(s.Data)-len(spec)-1-varintSize(len(spec))] != tagSecond {
		return Rendered{}, false
	}
	t := scratches.Get().(*transcoder)
	defer scratches.Put(t)
	t.ok, t.any = true, false
	t.buffer = append(t.buffer[:0], s.Codec.head...)
	t.meta(metadata, s.Version)
	at := len(t.buffer)
	t.buffer = append(t.buffer, `,"spec":`...)
	s.Codec.transcodeSpec(t, spec)
	t.buffer = append(t.buffer, tail...)
	if !t.ok {
		return Rendered{}, false
	}
	return Rendered{codec: s.Codec, whole: bytes.Clone(t.buffer), spec: at}, true
}

// transcoder walks over protobuf and writes JSON. ok becomes false when it gives up.
type transcoder struct {
	writer
	ok bool
}

// walker reads a message's fields one by one.
type walker struct {
	rest    []byte
	repeats int // the first number of which there may be several fields

	number int    // the field's: of a text it is negative, so that a field of another kind is another field
	value  uint64 // of a number
	text   []byte
	bad    bool // the fields are out of order, or broken
}

const noneRepeats = 1 << 20

func (w *walker) next() bool {
	if len(w.rest) == 0 || w.bad {
		return false
	}
	last := max(w.number, -w.number)
	tag, n := binary.Uvarint(w.rest)
	if n <= 0 {
		w.bad = true
		return false
	}
	number := int(tag >> 3)
	value, m := binary.Uvarint(w.rest[n:])
	if m <= 0 || number < last || number == last && number < w.repeats {
		w.bad = true
		return false
	}
	w.rest = w.rest[n+m:]
	switch {
	case tag&7 == 0:
		w.number, w.value, w.text = number, value, nil
	case tag&7 == 2 && value <= uint64(len(w.rest)):
		w.number, w.value, w.text = -number, 0, w.rest[:value]
		w.rest = w.rest[value:]
	default:
		w.bad = true
	}
	return !w.bad
}

// begin and end write an object within the one that is being written.
func (t *transcoder) begin() { t.buffer, t.any = append(t.buffer, '{'), false }
func (t *transcoder) end()   { t.buffer, t.any = append(t.buffer, '}'), true }

// string writes a string that is left out when it is empty.
func (t *transcoder) string(name string, text []byte) {
	if len(text) > 0 {
		t.present(name, text)
	}
}

// present writes a string that is there even when it is empty.
func (t *transcoder) present(name string, text []byte) {
	t.name(name)
	t.buffer = appendString(t.buffer, text)
}

func (t *transcoder) number(name string, value int64) {
	t.name(name)
	t.buffer = strconv.AppendInt(t.buffer, value, 10)
}

// meta gives up on numbers that ObjectMeta does not have, or has as another kind.
func (t *transcoder) meta(data []byte, version uint64) {
	const labels, annotations, owners, finalizers, managers = 11, 12, 13, 14, 17 // all of them repeated
	open := 0                                                                    // the one that is being written
	var key []byte
	versioned := false
	t.begin()
	fields := walker{rest: data, repeats: labels}
	for fields.next() {
		switch text := fields.text; fields.number {
		case -1:
			t.string("name", text)
		case -2:
			t.string("generateName", text)
		case -3:
			t.string("namespace", text)
		case -4:
			t.string("selfLink", text)
		case -5:
			t.string("uid", text)
		case -6:
			if versioned = true; len(text) > 0 {
				t.ok = false
			}
			t.name("resourceVersion")
			t.buffer = append(strconv.AppendUint(append(t.buffer, '"'), version, 10), '"')
		case 7:
			if fields.value != 0 {
				t.number("generation", int64(fields.value))
			}
		case -8:
			if len(text) > 0 {
				t.moment("creationTimestamp", text, appendSecond)
				if bytes.HasSuffix(t.buffer, []byte("null")) {
					t.ok = false // left out then, and nobody stores it so
				}
			}
		case -9:
			t.moment("deletionTimestamp", text, appendSecond)
		case 10:
			t.number("deletionGracePeriodSeconds", int64(fields.value))
		case -labels:
			if t.open(&open, labels, "labels", '{') {
				key = nil
			}
			key = t.entry(text, key)
		case -annotations:
			if t.open(&open, annotations, "annotations", '{') {
				key = nil
			}
			key = t.entry(text, key)
		case -owners:
			t.open(&open, owners, "ownerReferences", '[')
			t.owner(text)
		case -finalizers:
			t.open(&open, finalizers, "finalizers", '[')
			t.buffer = appendString(t.buffer, text)
		case -managers:
			t.open(&open, managers, "managedFields", '[')
			t.managed(text)
		default:
			t.ok = false
		}
	}
	t.close(open)
	t.end()
	t.ok = t.ok && versioned && !fields.bad
}

// open begins a repeated field, or puts a comma before one more of its elements, and says whether it began it.
func (t *transcoder) open(current *int, number int, name string, bracket byte) (began bool) {
	if *current == number {
		t.buffer = append(t.buffer, ',')
		return false
	}
	t.close(*current)
	*current = number
	t.name(name)
	t.buffer = append(t.buffer, bracket)
	return true
}

// close ends a repeated field: labels and annotations are objects, the others are arrays.
func (t *transcoder) close(number int) {
	switch {
	case number == 0:
		return
	case number <= 12:
		t.buffer = append(t.buffer, '}')
	default:
		t.buffer = append(t.buffer, ']')
	}
	t.any = true
}

// entry writes one of a map's entries, whose keys must come in order, and returns its key.
func (t *transcoder) entry(data, before []byte) (key []byte) {
	key, rest, ok := field(data)
	if !ok || data[0] != tagFirst || before != nil && bytes.Compare(before, key) >= 0 {
		t.ok = false
		return nil
	}
	value, end, ok := field(rest)
	if !ok || rest[0] != tagSecond || len(end) > 0 {
		t.ok = false
		return nil
	}
	t.buffer = append(appendString(t.buffer, key), ':')
	t.buffer = appendString(t.buffer, value)
	return key
}

// owner gathers what it writes, since JSON has the apiVersion first.
func (t *transcoder) owner(data []byte) {
	var apiVersion, kind, name, uid []byte
	var controls, controller, has, blocks bool
	fields := walker{rest: data, repeats: noneRepeats}
	for fields.next() {
		flag, text := fields.value != 0, fields.text
		switch fields.number {
		case -1:
			kind = text
		case -3:
			name = text
		case -4:
			uid = text
		case -5:
			apiVersion = text
		case 6:
			controls, controller = true, flag
		case 7:
			has, blocks = true, flag
		default:
			t.ok = false
		}
	}
	t.ok = t.ok && !fields.bad
	t.begin()
	t.present("apiVersion", apiVersion)
	t.present("kind", kind)
	t.present("name", name)
	t.present("uid", uid)
	if controls {
		t.name("controller")
		t.buffer = strconv.AppendBool(t.buffer, controller)
	}
	if has {
		t.name("blockOwnerDeletion")
		t.buffer = strconv.AppendBool(t.buffer, blocks)
	}
	t.end()
}

func (t *transcoder) managed(data []byte) {
	t.begin()
	fields := walker{rest: data, repeats: noneRepeats}
	for fields.next() {
		switch text := fields.text; fields.number {
		case -1:
			t.string("manager", text)
		case -2:
			t.string("operation", text)
		case -3:
			t.string("apiVersion", text)
		case -4:
			t.moment("time", text, appendSecond)
		case -6:
			t.string("fieldsType", text)
		case -7:
			t.fieldSet(text)
		case -8:
			t.string("subresource", text)
		default:
			t.ok = false
		}
	}
	t.ok = t.ok && !fields.bad
	t.end()
}

// fieldSet writes what is JSON already, if it is of the usual kind.
func (t *transcoder) fieldSet(data []byte) {
	raw, end, ok := field(data)
	if !ok || data[0] != tagFirst || len(end) > 0 || scanFields(raw, 0, false) != len(raw) {
		t.ok = false
		return
	}
	t.name("fieldsV1")
	t.buffer = append(t.buffer, raw...)
}

// moment writes a timestamp; nothing in it is the zero time.
func (t *transcoder) moment(name string, data []byte, write func([]byte, time.Time) []byte) {
	var at time.Time
	if len(data) > 0 {
		var seconds int64
		var nanos int32
		fields := walker{rest: data, repeats: noneRepeats}
		for fields.next() {
			switch fields.number {
			case 1:
				seconds = int64(fields.value)
			case 2:
				nanos = int32(fields.value)
			default:
				t.ok = false
			}
		}
		if fields.bad || nanos < 0 || nanos >= 1e9 {
			t.ok = false
		}
		at = time.Unix(seconds, int64(nanos))
	}
	t.name(name)
	t.buffer = write(t.buffer, at)
}
