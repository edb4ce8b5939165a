package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrEncoding says that bytes are not commands of a version known here.
var ErrEncoding = errors.New("unknown or damaged command encoding")

// EntryHeader begins every log entry: a version byte. After it come encoded commands, one after the other.
const EntryHeader = 1

// AppendCommand appends one command's encoding to dst. A log entry is EntryHeader and any number of commands so encoded.
// Fields that do not belong to the command's Op are left out; nil and empty are not told apart.
func AppendCommand(dst []byte, command *Command) []byte {
	dst = append(dst, byte(command.Op))
	switch command.Op {
	case OpCreate, OpUpdate, OpDelete:
		dst = append(dst, command.Session[:]...)
		dst = binary.AppendUvarint(dst, command.Seq)
		dst = binary.AppendUvarint(dst, command.Mark)
		dst = command.Key.appendTo(dst)
		dst = field(dst, command.UID)
		dst = binary.AppendUvarint(dst, command.Expect.Revision)
		dst = field(dst, command.Expect.UID)
		dst = field(dst, command.Object)
	case OpOpenSession:
		dst = append(dst, command.Session[:]...)
		dst = field(dst, command.Node)
	case OpEndSession:
		dst = field(dst, command.Node)
	case OpCompact:
		dst = binary.AppendUvarint(dst, command.Revision)
		dst = binary.AppendUvarint(dst, command.HistoryBytes)
	case OpForm:
		dst = appendMap(dst, command.Incarnations)
	}
	return dst
}

// DecodeCommand decodes one command and returns what follows it. The result, its strings included, shares memory with
// data: data must not be written to as long as the result is used. Any bytes may be given; those that are not a command
// known here give ErrEncoding.
func DecodeCommand(data []byte) (command Command, rest []byte, err error) {
	rest, err = decodeCommand(data, &command)
	return command, rest, err
}

// decodeCommand decodes into command, which must be zero.
func decodeCommand(data []byte, command *Command) (rest []byte, err error) {
	c := cursor{data: data}
	command.Op = Op(c.byte())
	switch command.Op {
	case OpCreate, OpUpdate, OpDelete:
		command.Session = c.session()
		command.Seq = c.uvarint()
		command.Mark = c.uvarint()
		command.Key = c.key()
		command.UID = c.string()
		command.Expect.Revision = c.uvarint()
		command.Expect.UID = c.string()
		command.Object = c.bytes()
	case OpOpenSession:
		command.Session = c.session()
		command.Node = c.string()
	case OpEndSession:
		command.Node = c.string()
	case OpCompact:
		command.Revision = c.uvarint()
		command.HistoryBytes = c.uvarint()
	case OpReady:
	case OpForm:
		command.Incarnations = c.stringMap()
	default:
		if !c.failed {
			return nil, fmt.Errorf("operation %d: %w", command.Op, ErrEncoding)
		}
	}
	if c.failed {
		return nil, fmt.Errorf("operation %d cut short: %w", command.Op, ErrEncoding)
	}
	return c.data, nil
}

// appendMap writes a map in the order of its keys.
func appendMap(dst []byte, m map[string]string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(m)))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		dst = field(field(dst, key), m[key])
	}
	return dst
}

// stringMap reads what appendMap wrote; nil when it is empty. Keys out of order fail.
func (c *cursor) stringMap() map[string]string {
	n := c.uvarint()
	if n == 0 || n > uint64(len(c.data)) { // each pair takes two bytes at least
		c.failed = c.failed || n > 0
		return nil
	}
	m := make(map[string]string)
	last := ""
	for i := range n {
		key, value := c.string(), c.string()
		if c.failed || i > 0 && key <= last {
			c.fail()
			return nil
		}
		m[key], last = value, key
	}
	return m
}
