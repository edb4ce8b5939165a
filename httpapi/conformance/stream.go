package conformance

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fxamacker/cbor/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxFrame bounds one event, in bytes: more than any object that a server stores.
const maxFrame = 64 << 20

// openStream opens a watch as an answer without an end.
func openStream(clients clients, r *http.Request) (*http.Response, stream, error) {
	got, err := clients.any.Do(r)
	if err != nil || got.StatusCode != http.StatusOK {
		return got, nil, err
	}
	switch contentType := got.Header.Get("Content-Type"); {
	case strings.Contains(contentType, "protobuf"):
		return got, protobufStream{got.Body}, nil
	case strings.Contains(contentType, "cbor"):
		return got, cborStream{cbor.NewDecoder(got.Body)}, nil
	default:
		decoder := json.NewDecoder(got.Body)
		decoder.UseNumber()
		return got, jsonStream{decoder}, nil
	}
}

type jsonStream struct{ decoder *json.Decoder }

func (s jsonStream) next() (event any, err error) {
	err = s.decoder.Decode(&event)
	return event, err
}

type cborStream struct{ decoder *cbor.Decoder }

func (s cborStream) next() (any, error) {
	var item cbor.RawMessage
	if err := s.decoder.Decode(&item); err != nil {
		return nil, err
	}
	return decodeCBOR(item)
}

// protobufStream is WatchEvents, each after its length in four bytes.
type protobufStream struct{ body io.Reader }

func (s protobufStream) next() (any, error) {
	var size uint32
	if err := binary.Read(s.body, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	if size > maxFrame {
		return nil, fmt.Errorf("an event of %d bytes", size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(s.body, frame); err != nil {
		return nil, fmt.Errorf("half an event: %w", err)
	}
	return protobufEvent(frame)
}

func protobufEvent(frame []byte) (any, error) {
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return nil, err
	}
	return map[string]any{"type": event.Type, "object": decode(protobufType, event.Object.Raw)}, nil
}
