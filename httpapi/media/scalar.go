package media

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// appendString writes a JSON string as encoding/json does for HTML's sake.
func appendString[T string | []byte](dst []byte, s T) []byte {
	for i := range len(s) {
		if !plain(s[i]) {
			escaped, err := json.Marshal(string(s))
			if err != nil {
				panic(err) // a string always has a JSON form
			}
			return append(dst, escaped...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// plain says whether a byte stands for itself in a JSON string whoever writes it.
func plain(c byte) bool { return plainBytes[c] }

var plainBytes = func() (table [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		table[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return table
}()

// appendMap writes a map in the order of its keys.
func appendMap(dst []byte, values map[string]string) []byte {
	var few [8]string
	keys := few[:0]
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, key)
		dst = append(dst, ':')
		dst = appendString(dst, values[key])
	}
	return append(dst, '}')
}

func appendTime(dst []byte, t metav1.Time) []byte { return appendSecond(dst, t.Time) }

func appendMicroTime(dst []byte, t metav1.MicroTime) []byte { return appendMicrosecond(dst, t.Time) }

// appendSecond writes the zero time as null, every other in UTC without a fraction.
func appendSecond(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	return append(t.UTC().AppendFormat(append(dst, '"'), time.RFC3339), '"')
}

// appendMicrosecond is appendSecond with six digits of fraction. The layout without a fraction is one that package time
// formats much faster, so the digits are put in by hand.
func appendMicrosecond(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	dst = t.UTC().AppendFormat(append(dst, '"'), time.RFC3339)
	dst = append(dst[:len(dst)-len("Z")], ".000000Z\""...)
	digits := dst[len(dst)-8 : len(dst)-2]
	for micro, i := t.Nanosecond()/1000, len(digits)-1; i >= 0; micro, i = micro/10, i-1 {
		digits[i] = byte('0' + micro%10)
	}
	return dst
}
