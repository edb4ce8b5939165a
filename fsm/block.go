package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrSnapshot says that a snapshot is torn, damaged or of a version not known here.
var ErrSnapshot = errors.New("snapshot is torn, damaged or of an unknown version")

// A snapshot is snapshotMagic, whose last byte is the version, and then blocks: the payload's length and checksum, four
// bytes each, and the payload. The checksum covers the block's number and the payload. An empty block ends the snapshot,
// so that one cut short is told from one that ends. A record never spans blocks.
var snapshotMagic = []byte("LEASEFSM\x01")

const (
	blockBytes    = 64 << 10  // a block is written once it holds so much
	maxBlockBytes = 256 << 20 // none is longer: a damaged length must not make a reader ask for all memory
)

// castagnoli is the polynomial that processors compute themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockWriter gathers records into blocks. A record is appended to buffer, then next is called.
type blockWriter struct {
	to     io.Writer
	number uint64
	buffer []byte // room for the block's head, then records
	err    error  // of the first write that failed; nothing is written after it
}

const blockHead = 8

func newBlockWriter(to io.Writer) (*blockWriter, error) {
	if _, err := to.Write(snapshotMagic); err != nil {
		return nil, err
	}
	return &blockWriter{to: to, buffer: make([]byte, blockHead, blockBytes+blockBytes/4)}, nil
}

// next ends a record. It returns whether it makes sense to go on.
func (w *blockWriter) next() bool {
	if len(w.buffer) >= blockBytes {
		w.flush()
	}
	return w.err == nil
}

// end writes what is left and the block that ends the snapshot.
func (w *blockWriter) end() error {
	if len(w.buffer) > blockHead {
		w.flush()
	}
	w.flush()
	return w.err
}

func (w *blockWriter) flush() {
	payload := w.buffer[blockHead:]
	binary.LittleEndian.PutUint32(w.buffer, uint32(len(payload)))
	binary.LittleEndian.PutUint32(w.buffer[4:], checksum(w.number, payload))
	if w.err == nil {
		_, w.err = w.to.Write(w.buffer)
	}
	w.number++
	w.buffer = w.buffer[:blockHead]
}

func checksum(number uint64, payload []byte) uint32 {
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], number)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, payload)
}

// blockReader yields the records of the blocks that it has checked.
type blockReader struct {
	from   io.Reader
	number uint64
	cursor cursor // over the present block; its memory is never used again for another one
}

func newBlockReader(from io.Reader) (*blockReader, error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(from, magic); err != nil {
		return nil, torn("beginning", err)
	}
	if !bytes.Equal(magic, snapshotMagic) {
		return nil, fmt.Errorf("begins with %q, not with %q: %w", magic, snapshotMagic, ErrSnapshot)
	}
	return &blockReader{from: from}, nil
}

// record returns the cursor at the beginning of the next record.
func (r *blockReader) record() (*cursor, error) {
	if len(r.cursor.data) == 0 {
		if err := r.next(); err != nil {
			return nil, err
		}
		if len(r.cursor.data) == 0 {
			return nil, fmt.Errorf("block %d: ends before all was read: %w", r.number, ErrSnapshot)
		}
	}
	return &r.cursor, nil
}

// end checks that all records were read and that the snapshot ends here.
func (r *blockReader) end() error {
	if len(r.cursor.data) > 0 {
		return fmt.Errorf("block %d: more records than announced: %w", r.number, ErrSnapshot)
	}
	if err := r.next(); err != nil {
		return err
	}
	if len(r.cursor.data) > 0 {
		return fmt.Errorf("block %d: more records than announced: %w", r.number, ErrSnapshot)
	}
	if n, _ := io.ReadFull(r.from, make([]byte, 1)); n > 0 {
		return fmt.Errorf("goes on after its end: %w", ErrSnapshot)
	}
	return nil
}

func (r *blockReader) next() error {
	where := fmt.Sprintf("block %d", r.number)
	var head [blockHead]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return torn(where, err)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxBlockBytes {
		return fmt.Errorf("%s: length %d: %w", where, length, ErrSnapshot)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(r.from, payload); err != nil {
		return torn(where, err)
	}
	if binary.LittleEndian.Uint32(head[4:]) != checksum(r.number, payload) {
		return fmt.Errorf("%s: checksum does not match: %w", where, ErrSnapshot)
	}
	r.cursor = cursor{data: payload}
	r.number++
	return nil
}

// torn tells a snapshot that ends too early from one that cannot be read at present.
func torn(where string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: cut short: %w", where, ErrSnapshot)
	}
	return fmt.Errorf("%s: %w", where, err)
}
