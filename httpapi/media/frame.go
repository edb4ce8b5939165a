package media

import (
	"encoding/binary"
)

// The types of a watch's events.
const (
	EventAdded    = "ADDED"
	EventModified = "MODIFIED"
	EventDeleted  = "DELETED"
	EventBookmark = "BOOKMARK"
	EventError    = "ERROR"
)

// AppendFrame writes one event of a watch: object is its bytes in that encoding, JSON with its closing newline, CBOR with
// its tag, or protobuf in its envelope. JSON frames are one to a line; CBOR tells where it ends; protobuf frames have their
// length in front, which a message of a websocket goes without.
func (a Accepted) AppendFrame(dst []byte, event string, object []byte) []byte {
	switch a.Encoding {
	case Protobuf:
		dst = appendEvent(dst, event, len(object))
		return append(dst, object...)
	case CBOR:
		return appendCBOREvent(dst, event, object)
	}
	dst = appendJSONEvent(dst, event)
	dst = append(dst, object[:len(object)-1]...)
	return append(dst, "}\n"...)
}

// AppendStoredFrame writes one event of a stored object in protobuf, whole or as PartialObjectMetadata.
func (a Accepted) AppendStoredFrame(dst []byte, event string, stored Stored) ([]byte, error) {
	v, err := open(stored)
	if err != nil {
		return nil, err
	}
	partial := a.Shape == Partial
	apiVersion, kind := a.names(false)
	size := v.size(partial)
	dst = appendEvent(dst, event, envelopeSize(apiVersion, kind, size))
	dst = appendEnvelope(dst, apiVersion, kind, size)
	return append(v.append(dst, partial), envelopeTail...), nil
}

func appendJSONEvent(dst []byte, event string) []byte {
	dst = append(dst, `{"type":"`...)
	return append(append(dst, event...), `","object":`...)
}

// frameLength is the size of what stands before a protobuf frame: its length, as a big-endian number.
const frameLength = 4

// appendEvent writes the length of a frame and the head of a metav1.WatchEvent around an object of size bytes.
func appendEvent(dst []byte, event string, size int) []byte {
	raw := 1 + varintSize(size) + size // runtime.RawExtension
	dst = binary.BigEndian.AppendUint32(dst, uint32(1+varintSize(len(event))+len(event)+1+varintSize(raw)+raw))
	dst = appendField(dst, tagFirst, event)
	dst = binary.AppendUvarint(append(dst, tagSecond), uint64(raw))
	return binary.AppendUvarint(append(dst, tagFirst), uint64(size))
}

// Message returns what a websocket carries of a frame.
func (a Accepted) Message(frame []byte) []byte {
	if a.Encoding == Protobuf {
		return frame[frameLength:]
	}
	return frame
}
