package fsm

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash digests objects, revision and sessions, not history: equal on machines with the same Applied index. It reads
// everything stored, outside the way of the writer.
func (m *Machine) Hash() (index uint64, digest uint64) {
	s := m.share()
	h := sha256.New()
	buffer := binary.AppendUvarint(nil, s.view.state.revision)
	for _, session := range s.sessions {
		buffer = session.appendTo(buffer)
	}
	for _, id := range s.ended {
		buffer = append(buffer, id[:]...)
	}
	s.view.state.root.each(func(object *Object) bool {
		h.Write(buffer)
		buffer = object.appendTo(buffer[:0])
		return true
	})
	h.Write(buffer)
	return s.view.index, binary.BigEndian.Uint64(h.Sum(nil))
}
