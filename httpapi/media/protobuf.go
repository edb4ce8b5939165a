package media

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/leasehold/leasehold/httpapi/object"
)

// Stored is an object as it lies in the store: raw protobuf with an empty metadata.resourceVersion, and the version it shall
// be shown with.
type Stored struct {
	Codec   *Codec
	Data    []byte
	Version uint64
}

// Decode returns the object with its version. It is the caller's own.
func (s Stored) Decode() (object.Object, error) {
	o := s.Codec.New()
	if err := o.Unmarshal(s.Data); err != nil {
		return nil, err
	}
	o.SetResourceVersion(strconv.FormatUint(s.Version, 10))
	return o, nil
}

// Tags of protobuf fields, all of them of the length-delimited kind.
const (
	tagMetadata = 1<<3 | 2 // of every kind, PartialObjectMetadata included
	tagVersion  = 6<<3 | 2 // of ObjectMeta
	tagFirst    = 1<<3 | 2
	tagSecond   = 2<<3 | 2
)

// versioned is stored protobuf cut open where the version belongs: before, the version's field, after. The metadata ends at
// partial within after; what follows is the spec.
type versioned struct {
	before, after []byte
	partial       int
	version       [20]byte
	digits        int
	metadata      int // size of the metadata with the version in it
}

// cut finds the place of the version in what Marshal wrote: its fields in ascending order, the version's there even
// though it is empty. It returns false on anything else.
func (v *versioned) cut(s Stored) bool {
	data := s.Data
	if len(data) == 0 || data[0] != tagMetadata {
		return false
	}
	size, n := binary.Uvarint(data[1:])
	start := 1 + n
	if n <= 0 || size > uint64(len(data)-start) {
		return false
	}
	end := start + int(size)
	at := start
	for at < end && data[at] < tagVersion {
		if data[at]&7 != 2 {
			return false
		}
		length, n := binary.Uvarint(data[at+1 : end])
		if n <= 0 || length > uint64(end-at-1-n) {
			return false
		}
		at += 1 + n + int(length)
	}
	if at+2 > end || data[at] != tagVersion || data[at+1] != 0 {
		return false
	}
	v.before, v.after, v.partial = data[start:at], data[at+2:], end-at-2
	v.digits = len(strconv.AppendUint(v.version[:0], s.Version, 10))
	v.metadata = int(size) + v.digits
	return true
}

func (v *versioned) size(partial bool) int {
	size := 1 + varintSize(v.metadata) + v.metadata
	if !partial {
		size += len(v.after) - v.partial
	}
	return size
}

func (v *versioned) append(dst []byte, partial bool) []byte {
	dst = binary.AppendUvarint(append(dst, tagMetadata), uint64(v.metadata))
	dst = append(dst, v.before...)
	dst = append(dst, tagVersion, byte(v.digits))
	dst = append(dst, v.version[:v.digits]...)
	if partial {
		return append(dst, v.after[:v.partial]...)
	}
	return append(dst, v.after...)
}

// open is cut for what must be an object; if it is one that Marshal would have written otherwise, it is written anew.
func open(s Stored) (v versioned, err error) {
	if v.cut(s) {
		return v, nil
	}
	o, err := s.Decode()
	if err != nil {
		return v, err
	}
	o.SetResourceVersion("")
	data, err := o.Marshal()
	if err != nil {
		return v, err
	}
	v.cut(Stored{Data: data, Version: s.Version})
	return v, nil
}

// An envelope is what marks bytes as a Kubernetes object in protobuf: a prefix, then runtime.Unknown with the kind, the
// object, and two fields that are empty.
const (
	envelopePrefix = "k8s\x00"
	envelopeTail   = "\x1a\x00\x22\x00"
)

func envelopeSize(apiVersion, kind string, size int) int {
	kinds := typeSize(apiVersion, kind)
	return len(envelopePrefix) + 1 + varintSize(kinds) + kinds + 1 + varintSize(size) + size + len(envelopeTail)
}

func typeSize(apiVersion, kind string) int {
	return 1 + varintSize(len(apiVersion)) + len(apiVersion) + 1 + varintSize(len(kind)) + len(kind)
}

// appendEnvelope writes what goes before size bytes of an object; envelopeTail goes after them.
func appendEnvelope(dst []byte, apiVersion, kind string, size int) []byte {
	dst = append(dst, envelopePrefix...)
	dst = binary.AppendUvarint(append(dst, tagFirst), uint64(typeSize(apiVersion, kind)))
	dst = appendField(dst, tagFirst, apiVersion)
	dst = appendField(dst, tagSecond, kind)
	return binary.AppendUvarint(append(dst, tagSecond), uint64(size))
}

func appendField(dst []byte, tag byte, value string) []byte {
	dst = binary.AppendUvarint(append(dst, tag), uint64(len(value)))
	return append(dst, value...)
}

func varintSize(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// names returns how an object or list of this shape calls itself.
func (a Accepted) names(list bool) (apiVersion, kind string) {
	switch {
	case a.Shape == Table:
		return "meta.k8s.io/" + a.Version, "Table"
	case a.Shape == Partial || a.Shape == PartialList:
		apiVersion, kind = "meta.k8s.io/"+a.Version, "PartialObjectMetadata"
	default:
		apiVersion, kind = a.Codec.apiVersion, a.Codec.Kind.Kind
	}
	if list {
		kind += "List"
	}
	return apiVersion, kind
}

// AppendProtobuf writes a stored object in its envelope, whole or as PartialObjectMetadata.
func (a Accepted) AppendProtobuf(dst []byte, stored Stored) ([]byte, error) {
	v, err := open(stored)
	if err != nil {
		return nil, err
	}
	partial := a.Shape == Partial
	apiVersion, kind := a.names(false)
	dst = appendEnvelope(dst, apiVersion, kind, v.size(partial))
	return append(v.append(dst, partial), envelopeTail...), nil
}
