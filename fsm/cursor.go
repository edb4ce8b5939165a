package fsm

import (
	"encoding/binary"
	"unsafe"
)

// cursor reads encoded fields off a slice. After the first field that is not there it is failed and yields zero values,
// so that only the end of a decoder has to look.
type cursor struct {
	data   []byte
	failed bool
}

func (c *cursor) fail() {
	c.data, c.failed = nil, true
}

func (c *cursor) byte() byte {
	if len(c.data) == 0 {
		c.fail()
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b
}

func (c *cursor) uvarint() uint64 {
	value, n := binary.Uvarint(c.data)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[n:]
	return value
}

// fixed returns the next n bytes, nil when there are fewer.
func (c *cursor) fixed(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.fail()
		return nil
	}
	field := c.data[:n:n]
	c.data = c.data[n:]
	return field
}

// bytes returns a field with its length before it; nil when it is empty. It shares memory with the data.
func (c *cursor) bytes() []byte {
	if field := c.fixed(c.uvarint()); len(field) > 0 {
		return field
	}
	return nil
}

// string is bytes as a string, sharing memory with the data too: whoever keeps it longer must clone it, and nobody may
// write to data that was decoded.
func (c *cursor) string() string {
	field := c.bytes()
	return unsafe.String(unsafe.SliceData(field), len(field))
}

func (c *cursor) key() Key {
	return Key{Resource: c.string(), Namespace: c.string(), Name: c.string()}
}

func (c *cursor) session() (id SessionID) {
	copy(id[:], c.fixed(uint64(len(id))))
	return id
}

// field appends value with its length before it, as cursor.bytes and cursor.string read it.
func field[T ~string | ~[]byte](dst []byte, value T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

func (k Key) appendTo(dst []byte) []byte {
	return field(field(field(dst, k.Resource), k.Namespace), k.Name)
}
