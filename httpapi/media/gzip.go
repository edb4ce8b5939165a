package media

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

// MaxPlain is the size of an answer, in bytes, above which it is compressed if the client takes that.
const MaxPlain = 128 << 10

// TakesGzip says whether a client takes gzip, by its Accept-Encoding header. Like kube-apiserver it understands no quality: who
// tells one, be it 0, is not meant.
func TakesGzip(acceptEncoding string) bool {
	for coding := range strings.SplitSeq(acceptEncoding, ",") {
		if strings.TrimSpace(coding) == "gzip" {
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

// Gzip returns body compressed.
func Gzip(body []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(body) / 8)
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(&out)
	// A buffer takes all that is written.
	compressor.Write(body)
	compressor.Close()
	return out.Bytes()
}
