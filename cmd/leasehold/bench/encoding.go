package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// microTime is how a MicroTime is written: always six digits.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// encoding writes and reads Leases in one of the two forms.
type encoding interface {
	contentType() string
	// lease appends the body of a create (version "") or of a renewal.
	lease(dst []byte, l *leaseState, renewed time.Time) []byte
	// version finds the resourceVersion in an answer that is one Lease.
	version(answer []byte) (string, error)
}

// leaseState is a Lease as its holder knows it.
type leaseState struct {
	namespace, name string
	version         string
}

func (l *leaseState) path() string { return collectionPath(l.namespace) + "/" + l.name }

func collectionPath(namespace string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"
}

// jsonEncoding writes by hand what client-go would: all of it is constant but name, version and time.
type jsonEncoding struct{}

func (jsonEncoding) contentType() string { return "application/json" }

func (jsonEncoding) lease(dst []byte, l *leaseState, renewed time.Time) []byte {
	dst = append(dst, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"`...)
	dst = append(dst, l.name...)
	dst = append(dst, `","namespace":"`...)
	dst = append(dst, l.namespace...)
	if l.version != "" {
		dst = append(dst, `","resourceVersion":"`...)
		dst = append(dst, l.version...)
	}
	dst = append(dst, `"},"spec":{"acquireTime":"2026-01-01T00:00:00.000000Z","holderIdentity":"`...)
	dst = append(dst, l.name...)
	dst = append(dst, `","leaseDurationSeconds":40,"leaseTransitions":0,"renewTime":"`...)
	dst = renewed.UTC().AppendFormat(dst, microTime)
	return append(dst, `"}}`...)
}

func (jsonEncoding) version(answer []byte) (string, error) {
	version, ok := between(answer, `"resourceVersion":"`)
	if !ok {
		return "", fmt.Errorf("no resourceVersion in %s", clip(string(answer), 200))
	}
	return version, nil
}

// between returns the text after the first mark up to the next quote.
func between(text []byte, mark string) (string, bool) {
	start := bytes.Index(text, []byte(mark))
	if start < 0 {
		return "", false
	}
	text = text[start+len(mark):]
	end := bytes.IndexByte(text, '"')
	if end < 0 {
		return "", false
	}
	return string(text[:end]), true
}

// protobufMagic begins every protobuf body of the Kubernetes API; a runtime.Unknown follows.
var protobufMagic = []byte("k8s\x00")

// typeMeta is the first field of a runtime.Unknown that holds a Lease.
var typeMeta = []byte("\x0a\x1f\x0a\x16coordination.k8s.io/v1\x12\x05Lease")

type protobufEncoding struct{}

func (protobufEncoding) contentType() string { return "application/vnd.kubernetes.protobuf" }

func (protobufEncoding) lease(dst []byte, l *leaseState, renewed time.Time) []byte {
	acquired, now := metav1.MicroTime{Time: time.Unix(1767225600, 0)}, metav1.MicroTime{Time: renewed}
	seconds, transitions := int32(40), int32(0)
	lease := coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: l.name, Namespace: l.namespace, ResourceVersion: l.version},
		Spec: coordination.LeaseSpec{
			HolderIdentity: &l.name, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions,
			AcquireTime: &acquired, RenewTime: &now,
		},
	}
	raw, err := lease.Marshal()
	if err != nil {
		panic(err) // of a value made here, marshalling cannot fail
	}
	dst = append(append(dst, protobufMagic...), typeMeta...)
	return appendBytesField(dst, 2, raw)
}

func (protobufEncoding) version(answer []byte) (string, error) {
	body, ok := bytes.CutPrefix(answer, protobufMagic)
	if !ok {
		return "", errors.New("answer is not protobuf")
	}
	raw, ok := bytesField(body, 2)
	if !ok {
		return "", errors.New("answer has no object")
	}
	var lease coordination.Lease
	if err := lease.Unmarshal(raw); err != nil {
		return "", err
	}
	return lease.ResourceVersion, nil
}

// appendBytesField appends a length-delimited protobuf field.
func appendBytesField(dst []byte, number int, value []byte) []byte {
	dst = append(dst, byte(number<<3|2))
	for n := len(value); ; n >>= 7 {
		if n < 0x80 {
			dst = append(dst, byte(n))
			break
		}
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, value...)
}

// bytesField returns a length-delimited field of a message that has only such.
func bytesField(message []byte, number int) ([]byte, bool) {
	for len(message) > 1 {
		tag := message[0]
		message = message[1:]
		size, shift := 0, 0
		for len(message) > 0 {
			b := message[0]
			message = message[1:]
			size |= int(b&0x7f) << shift
			shift += 7
			if b < 0x80 {
				break
			}
		}
		if tag&7 != 2 || size > len(message) {
			return nil, false
		}
		if int(tag>>3) == number {
			return message[:size], true
		}
		message = message[size:]
	}
	return nil, false
}

// decodeVersions reads names and versions out of a JSON list.
func decodeVersions(list []byte) (map[string]string, error) {
	var decoded struct {
		Items []struct {
			Metadata struct {
				Name            string `json:"name"`
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(list, &decoded); err != nil {
		return nil, err
	}
	versions := make(map[string]string, len(decoded.Items))
	for _, item := range decoded.Items {
		versions[item.Metadata.Name] = item.Metadata.ResourceVersion
	}
	return versions, nil
}
