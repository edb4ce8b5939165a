package conformance

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
)

// openSocket opens a watch over a websocket (RFC 6455). A handshake by hand, since clients of that protocol keep an answer
// other than 101 to themselves.
func openSocket(clients clients, r *http.Request) (*http.Response, stream, error) {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // never fails
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Version", "13")
	r.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(key))
	got, err := clients.sockets.Do(r)
	if err != nil || got.StatusCode != http.StatusSwitchingProtocols {
		return got, nil, err
	}
	return got, &socketStream{bufio.NewReader(got.Body)}, nil
}

// socketStream reads messages; each is an event.
type socketStream struct{ frames *bufio.Reader }

// What a frame can be.
const (
	continuation = 0x0
	textMessage  = 0x1
	binMessage   = 0x2
	closing      = 0x8
	ping         = 0x9
	pong         = 0xa
)

func (s *socketStream) next() (any, error) {
	var message []byte
	var kind byte
	for {
		opcode, final, payload, err := s.frame()
		if err != nil {
			return nil, err
		}
		switch opcode {
		case closing:
			return nil, io.EOF
		case ping, pong:
			continue
		case continuation:
		default:
			kind = opcode
		}
		if message = append(message, payload...); !final {
			continue
		}
		switch kind {
		case textMessage:
			return decode("application/json", message), nil
		case binMessage:
			return protobufEvent(message)
		}
		return nil, fmt.Errorf("a message of kind %d", kind)
	}
}

// frame reads one frame. A server's frames are not masked.
func (s *socketStream) frame() (opcode byte, final bool, payload []byte, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.frames, head); err != nil {
		return 0, false, nil, err
	}
	opcode, final = head[0]&0xf, head[0]&0x80 != 0
	size := uint64(head[1])
	switch size {
	case 126:
		var short uint16
		err = binary.Read(s.frames, binary.BigEndian, &short)
		size = uint64(short)
	case 127:
		err = binary.Read(s.frames, binary.BigEndian, &size)
	}
	if err == nil && size > maxFrame {
		err = fmt.Errorf("a frame of %d bytes", size)
	}
	if err != nil {
		return 0, false, nil, err
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(s.frames, payload)
	return opcode, final, payload, err
}
