package media

import (
	"mime"
	"strings"
)

// OfBody returns how a request body is encoded, from its Content-Type header; none means JSON. Parameters such as
// charset are accepted and mean nothing. The error is an *UnsupportedTypeError.
func (e Encodings) OfBody(contentType string) (Encoding, error) {
	switch contentType {
	case "", mediaTypes[JSON]:
		return JSON, nil
	case mediaTypes[Protobuf]:
		return Protobuf, nil
	}
	name, _, err := mime.ParseMediaType(contentType)
	if err == nil {
		for _, encoding := range e {
			if name == mediaTypes[encoding] {
				return encoding, nil
			}
		}
	}
	return 0, &UnsupportedTypeError{Supported: e.types()}
}

// UnsupportedTypeError says that a body is in no form this endpoint reads: 415.
type UnsupportedTypeError struct {
	Supported []string
}

func (e *UnsupportedTypeError) Error() string {
	return "the body of the request was in an unknown format - accepted media types include: " + strings.Join(e.Supported, ", ")
}
