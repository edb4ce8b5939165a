package media

import (
	"encoding/binary"

	"k8s.io/apimachinery/pkg/labels"
)

// Labels are a stored object's labels, looked up where they lie: nothing is decoded or kept for it.
type Labels struct {
	metadata []byte
}

var _ labels.Labels = Labels{}

// Labels returns the labels of a stored object.
func (s Stored) Labels() Labels {
	if metadata, _, ok := field(s.Data); ok && s.Data[0] == tagMetadata {
		return Labels{metadata: metadata}
	}
	return Labels{}
}

// Has implements labels.Labels.
func (l Labels) Has(label string) bool {
	_, found := l.Lookup(label)
	return found
}

// Get implements labels.Labels.
func (l Labels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

// Lookup implements labels.Labels.
func (l Labels) Lookup(label string) (value string, found bool) {
	for rest := l.metadata; len(rest) > 0; {
		tag := rest[0]
		if tag&7 != 2 {
			_, n := binary.Uvarint(rest[1:])
			if tag&7 != 0 || n <= 0 {
				return value, found // nothing that ObjectMeta has
			}
			rest = rest[1+n:]
			continue
		}
		content, after, ok := field(rest)
		if !ok {
			return value, found
		}
		rest = after
		if tag != tagLabels {
			continue
		}
		name, tail, ok := field(content)
		if !ok || content[0] != tagFirst || string(name) != label {
			continue
		}
		if held, _, ok := field(tail); ok && tail[0] == tagSecond {
			value, found = string(held), true
		}
	}
	return value, found
}

// field reads a length-delimited field whose tag is one byte, and returns what is in it and what comes after it.
func field(data []byte) (content, rest []byte, ok bool) {
	if len(data) < 2 || data[0]&0x87 != 2 {
		return nil, nil, false
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size > uint64(len(data)-1-n) {
		return nil, nil, false
	}
	start := 1 + n
	return data[start : start+int(size)], data[start+int(size):], true
}

const tagLabels = 11<<3 | 2 // of ObjectMeta; a map's entry has the name first and the value second
