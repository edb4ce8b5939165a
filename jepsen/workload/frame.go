package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/leasehold/leasehold/jepsen/history"
)

// frames are those of a stream: each is a line.
type frames struct {
	from *bufio.Reader
	line []byte // of the frame before the next one
}

func newFrames(from io.Reader) *frames { return &frames{from: bufio.NewReaderSize(from, 8<<10)} }

// next returns the next frame, which is good until it is called again. A frame that breaks off is io.ErrUnexpectedEOF.
func (f *frames) next() ([]byte, error) {
	for f.line = f.line[:0]; ; {
		piece, err := f.from.ReadSlice('\n')
		f.line = append(f.line, piece...)
		frame := bytes.TrimSpace(f.line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && len(frame) == 0:
			f.line = f.line[:0]
		case err == nil || errors.Is(err, io.EOF) && json.Valid(frame):
			return frame, nil
		case errors.Is(err, io.EOF) && len(frame) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// frame is one event as it stands in a stream.
type frame struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// initialEnd is the annotation of the bookmark after initial events.
const initialEnd = "k8s.io/initial-events-end"

func (f frame) change() history.Change {
	change := history.Change{Type: f.Type}
	switch f.Type {
	case "ADDED", "MODIFIED", "DELETED":
		v, malformed := version(f.Object)
		change.Version, change.Malformed = &v, malformed
	case "BOOKMARK":
		var o object
		if err := json.Unmarshal(f.Object, &o); err != nil {
			change.Malformed = "a bookmark that is no object: " + err.Error()
			break
		}
		revision, err := parseRevision(o.Metadata.ResourceVersion)
		if err != nil {
			change.Malformed = "bookmark: " + err.Error()
		}
		change.Revision, change.InitialEnd = revision, o.Metadata.Annotations[initialEnd] == "true"
	case "ERROR":
		var s status
		if err := json.Unmarshal(f.Object, &s); err != nil {
			change.Malformed = "an error that is no Status: " + err.Error()
		}
		change.Code, change.Reason = s.Code, s.Reason
	default:
		change.Malformed = "an event of type " + strconv.Quote(f.Type)
	}
	return change
}
