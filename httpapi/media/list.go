package media

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AppendList writes a list as JSON, whole or as a PartialObjectMetadataList, from items that are rendered already.
func (a Accepted) AppendList(dst []byte, meta *metav1.ListMeta, items []Rendered) ([]byte, error) {
	apiVersion, kind := a.names(true)
	size := 256 + len(meta.Continue)
	for i := range items {
		size += len(items[i].whole)
	}
	dst = slices.Grow(dst, size)
	dst, err := appendListHead(dst, apiVersion, kind, meta)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,"items":[`...)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if a.Shape == PartialList {
			dst = a.appendPartial(dst, item)
			continue
		}
		head, tail := item.Item()
		dst = append(append(dst, head...), tail...)
	}
	return append(dst, "]}\n"...), nil
}

func appendListHead(dst []byte, apiVersion, kind string, meta *metav1.ListMeta) ([]byte, error) {
	told, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	dst = appendString(append(dst, `{"kind":`...), kind)
	dst = appendString(append(dst, `,"apiVersion":`...), apiVersion)
	return append(append(dst, `,"metadata":`...), told...), nil
}

// AppendPartial writes one object as PartialObjectMetadata in JSON.
func (a Accepted) AppendPartial(dst []byte, o Rendered) []byte {
	return append(a.appendPartial(dst, o), '\n')
}

func (a Accepted) appendPartial(dst []byte, o Rendered) []byte {
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/`...)
	dst = append(append(dst, a.Version...), `","metadata":`...)
	return append(append(dst, o.Metadata()...), '}')
}

// ProtobufList writes a list in its envelope, whole or as a PartialObjectMetadataList.
func (a Accepted) ProtobufList(meta *metav1.ListMeta, items []Stored) ([]byte, error) {
	partial := a.Shape == PartialList
	apiVersion, kind := a.names(true)
	told, err := meta.Marshal()
	if err != nil {
		return nil, err
	}
	// In v1beta1 of PartialObjectMetadataList the items came first.
	tagMeta, tagItem := byte(tagFirst), byte(tagSecond)
	if partial && a.Version == "v1beta1" {
		tagMeta, tagItem = tagSecond, tagFirst
	}

	// The envelope tells the size of what is in it, so room is left in front and the envelope is written last.
	const room = 64 + len(envelopePrefix)
	size := room + len(told) + 16 + len(envelopeTail)
	for i := range items {
		size += len(items[i].Data) + 32
	}
	buffer := make([]byte, room, size)
	if tagMeta == tagFirst {
		buffer = appendField(buffer, tagMeta, string(told))
	}
	for _, item := range items {
		v, err := open(item)
		if err != nil {
			return nil, err
		}
		buffer = binary.AppendUvarint(append(buffer, tagItem), uint64(v.size(partial)))
		buffer = v.append(buffer, partial)
	}
	if tagMeta == tagSecond {
		buffer = appendField(buffer, tagMeta, string(told))
	}
	var space [2 * room]byte
	head := appendEnvelope(space[:0], apiVersion, kind, len(buffer)-room)
	if len(head) > room {
		buffer = append(head, buffer[room:]...)
	} else {
		buffer = buffer[room-len(head):]
		copy(buffer, head)
	}
	return append(buffer, envelopeTail...), nil
}
