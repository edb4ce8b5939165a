package media

import (
	"encoding/binary"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
)

// selfDescribed is the tag that stands before each object (RFC 8949, 3.4.6).
const selfDescribed = "\xd9\xd9\xf7"

// appendCBOR writes JSON as CBOR, as the generic serializer writes the object that the JSON is of: text as byte strings,
// and without the tag.
func appendCBOR(dst, text []byte) ([]byte, error) {
	var tree any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &tree); err != nil {
		return nil, fmt.Errorf("encode as CBOR: %w", err)
	}
	told, err := direct.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode as CBOR: %w", err)
	}
	return append(dst, told...), nil
}

// The major types of CBOR, as the bits they are in the first byte of an item.
const (
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5
)

// appendHead writes what an item begins with: its major type and its length, or how many there are in it.
func appendHead(dst []byte, major byte, n int) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
}

func appendBytes(dst []byte, text string) []byte {
	return append(appendHead(dst, majorBytes, len(text)), text...)
}

// appendCBOREvent writes a metav1.WatchEvent around an object.
func appendCBOREvent(dst []byte, event string, object []byte) []byte {
	dst = appendHead(append(dst, selfDescribed...), majorMap, 2)
	dst = appendBytes(appendBytes(dst, "type"), event)
	return append(appendBytes(dst, "object"), object...)
}

// CBORList writes a list as CBOR, whole or as a PartialObjectMetadataList, from items that are rendered already. Each item
// is converted by itself: a tree of all of them would take several times the memory.
func (a Accepted) CBORList(meta *metav1.ListMeta, items []Rendered) ([]byte, error) {
	apiVersion, kind := a.names(true)
	told, err := direct.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode as CBOR: %w", err)
	}
	size := 256 + len(told)
	for i := range items {
		size += len(items[i].whole)
	}
	dst := append(make([]byte, 0, size), selfDescribed...)
	dst = appendHead(dst, majorMap, 4)
	dst = appendBytes(appendBytes(dst, "kind"), kind)
	dst = appendHead(appendBytes(dst, "items"), majorArray, len(items))
	var text []byte
	for _, item := range items {
		if a.Shape == PartialList {
			text = a.appendPartial(text[:0], item)
		} else {
			head, tail := item.Item()
			text = append(append(text[:0], head...), tail...)
		}
		if dst, err = appendCBOR(dst, text); err != nil {
			return nil, err
		}
	}
	dst = append(appendBytes(dst, "metadata"), told...)
	return appendBytes(appendBytes(dst, "apiVersion"), apiVersion), nil
}

// UnmarshalCBOR reads a body into a tree, or whatever else is given.
func UnmarshalCBOR(body []byte, into any) error {
	if !atMostItems(body, maxCBORItems) {
		return errTooManyItems
	}
	return direct.Unmarshal(body, into)
}

// maxCBORItems is how many items a body of CBOR may be made of, those within others counted too. An item can be a single
// byte, and is then decoded to some hundred; no body that is otherwise small enough needs so many.
const maxCBORItems = 1 << 18

var errTooManyItems = &BodyError{Message: fmt.Sprintf("cbor: exceeded max number of data items %d", maxCBORItems)}

// atMostItems says whether a body has no more items than limit. It walks over their heads, so it is quick, and takes no
// notice of what is wrong with them.
func atMostItems(body []byte, limit int) bool {
	for items := 0; len(body) > 0; items++ {
		if items == limit {
			return false
		}
		major, argument := body[0]&^31, uint64(body[0]&31)
		body = body[1:]
		switch {
		case argument < 24:
		case argument < 28:
			size := 1 << (argument - 24)
			if size > len(body) {
				return true // broken off
			}
			argument = 0
			for _, c := range body[:size] {
				argument = argument<<8 | uint64(c)
			}
			body = body[size:]
		default:
			argument = 0 // of indefinite length: its parts follow, each with a head
		}
		if major == majorBytes || major == majorText {
			if argument > uint64(len(body)) {
				return true
			}
			body = body[argument:]
		}
	}
	return true
}
