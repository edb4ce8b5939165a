package media

import (
	"compress/gzip"
	"io"
	"strings"
	"sync"
)

// MinGzip is the size of an answer, in bytes, from which on it is compressed if the client takes that.
const MinGzip = 128 << 10

// TakesGzip says whether a client takes gzip, by its Accept-Encoding header.
func TakesGzip(acceptEncoding string) bool {
	for clause := range strings.SplitSeq(acceptEncoding, ",") {
		if name, _, _ := strings.Cut(clause, ";"); strings.TrimSpace(name) == "gzip" {
			return true
		}
	}
	return false
}

// compressors are costly to make and large.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// Gzip writes body to w, compressed.
func Gzip(w io.Writer, body []byte) error {
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(w)
	if _, err := compressor.Write(body); err != nil {
		return err
	}
	return compressor.Close()
}
