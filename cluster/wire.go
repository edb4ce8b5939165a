package cluster

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A frame between nodes is: length of what follows (4 bytes, big endian), call (8 bytes), kind (1 byte), payload. A
// reply carries the call of its question. Kinds are never reused.
const (
	kindHello     byte = 1 // opens a connection: hello; answered by kindHello
	kindIdentity  byte = 2 // asks who this is and whether it belongs to a cluster: nothing; identity
	kindPropose   byte = 3 // commands for the log: count (4 bytes), commands; results
	kindReadIndex byte = 4 // asks the leader for a read index: nothing; index (8 bytes)
	kindTransfer  byte = 5 // asks the leader to resign in favour of another voter: its ID, or nothing for any; nothing

	kindReply      byte = 128 // done, the payload as above
	kindNotApplied byte = 129 // surely nothing was done; reason as text
	kindUncertain  byte = 130 // it is not known what was done; reason as text
	frameHeader         = 4 + 8 + 1
	maxFrame            = 64 << 20
	maxOutbox           = 128 << 20       // bytes that wait to be written before a connection is given up
	writeTimeout        = 5 * time.Second // for one write of what has gathered
)

var errCut = errors.New("connection to the peer was cut")

// wire writes frames to one connection, many callers at once. What they give while a write is under way is written
// together by the next one. A wire takes frames before its connection stands.
type wire struct {
	wake chan struct{} // capacity 1: there is something to write, or the wire was closed

	mu      sync.Mutex // guards what follows
	out     []byte
	spare   []byte
	conn    net.Conn
	written uint64 // the highest call that may have left this node
	last    uint64 // the highest call in out
	closed  bool
}

func newWire() *wire { return &wire{wake: make(chan struct{}, 1)} }

// send appends a frame. It does not block.
func (w *wire) send(call uint64, kind byte, payload ...[]byte) error {
	size := frameHeader - 4
	for _, p := range payload {
		size += len(p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errCut
	}
	if size > maxFrame || len(w.out)+size > maxOutbox {
		return ErrOverloaded
	}
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(size))
	w.out = binary.BigEndian.AppendUint64(w.out, call)
	w.out = append(w.out, kind)
	for _, p := range payload {
		w.out = append(w.out, p...)
	}
	w.last = max(w.last, call)
	signal(w.wake)
	return nil
}

// run writes to conn until the wire is closed or a write fails.
func (w *wire) run(conn net.Conn) error {
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return errCut
		}
		out := w.out
		w.out, w.spare = w.spare[:0], nil
		w.written = w.last
		w.mu.Unlock()
		if len(out) > 0 {
			_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := conn.Write(out); err != nil {
				return err
			}
		}
		w.mu.Lock()
		if cap(out) <= 1<<20 {
			w.spare = out
		}
		more := len(w.out) > 0
		w.mu.Unlock()
		if !more {
			<-w.wake
		}
	}
}

// close ends the wire and its connection.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	if w.conn != nil {
		_ = w.conn.Close()
	}
	signal(w.wake)
}

// left returns the highest call that may have left this node.
func (w *wire) left() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// frame is one that was read. Its payload is its own memory.
type frame struct {
	call    uint64
	kind    byte
	payload []byte
}

func readFrame(r *bufio.Reader) (frame, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size < frameHeader-4 || size > maxFrame {
		return frame{}, fmt.Errorf("frame of %d bytes", size)
	}
	f := frame{call: binary.BigEndian.Uint64(header[4:]), kind: header[12], payload: make([]byte, size-(frameHeader-4))}
	_, err := io.ReadFull(r, f.payload)
	return f, err
}

// writeFrame writes one frame by itself, before a wire runs.
func writeFrame(conn net.Conn, f frame) error {
	out := binary.BigEndian.AppendUint32(nil, uint32(frameHeader-4+len(f.payload)))
	out = binary.BigEndian.AppendUint64(out, f.call)
	out = append(out, f.kind)
	out = append(out, f.payload...)
	_, err := conn.Write(out)
	return err
}
