package media

import (
	"mime"
	"strings"
)

// ContentEncoding returns how a request body is encoded, from its Content-Type header; none means JSON. Parameters such as
// charset are accepted and mean nothing. The error is an *UnsupportedTypeError.
func ContentEncoding(contentType string) (Encoding, error) {
	switch contentType {
	case "", mediaTypes[JSON]:
		return JSON, nil
	case mediaTypes[Protobuf]:
		return Protobuf, nil
	}
	name, _, err := mime.ParseMediaType(contentType)
	if err == nil {
		for encoding, known := range mediaTypes {
			if name == known {
				return Encoding(encoding), nil
			}
		}
	}
	return 0, &UnsupportedTypeError{Supported: mediaTypes[:]}
}

// UnsupportedTypeError says that a body is in no form this endpoint reads: 415.
type UnsupportedTypeError struct {
	Supported []string
}

func (e *UnsupportedTypeError) Error() string {
	return "the body of the request was in an unknown format - accepted media types include: " + strings.Join(e.Supported, ", ")
}
