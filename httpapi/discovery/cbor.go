package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leasehold/leasehold/httpapi/media"
)

const cborType = "application/cbor"

// AddCBOR adds to every document that is an API object its form in CBOR.
func (d Documents) AddCBOR() error {
	for path, document := range d {
		if !document.isObject() {
			continue
		}
		for _, f := range document.forms {
			if !slices.Contains(f.mediaTypes, jsonType) {
				continue
			}
			body, err := media.Accepted{Encoding: media.CBOR}.Convert(f.body)
			if err != nil {
				return fmt.Errorf("discovery: %s: %w", path, err)
			}
			f.mediaTypes, f.body, f.indentable = []string{cborType}, body, false
			f.contentType = cborType + strings.TrimPrefix(f.contentType, jsonType)
			document.forms = append(document.forms, f)
		}
	}
	return nil
}

// isObject tells API objects from OpenAPI and the version: they have the protobuf form of such.
func (d *Document) isObject() bool {
	for _, f := range d.forms {
		if slices.Contains(f.mediaTypes, protobufType) {
			return true
		}
	}
	return false
}
