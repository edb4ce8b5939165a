package media

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// appendString writes a JSON string as encoding/json does for HTML's sake.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if !plain(s[i]) {
			escaped, err := json.Marshal(s)
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
func plain(c byte) bool {
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

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

func appendTime(dst []byte, t metav1.Time) []byte {
	return appendMoment(dst, t.Time, time.RFC3339)
}

func appendMicroTime(dst []byte, t metav1.MicroTime) []byte {
	return appendMoment(dst, t.Time, metav1.RFC3339Micro)
}

// appendMoment writes the zero time as null, every other in UTC.
func appendMoment(dst []byte, t time.Time, layout string) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, layout)
	return append(dst, '"')
}
