package media

import (
	"slices"

	"github.com/fxamacker/cbor/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	"github.com/leasehold/leasehold/httpapi/object"
)

// decodeLenientTimes is decode for who may write times with any number of digits. A body in which there is nothing to change
// is decoded as it is. In protobuf times are numbers.
func (c *Codec) decodeLenientTimes(body []byte, encoding Encoding, validation Validation) (object.Object, []string, error) {
	switch encoding {
	case JSON:
		body = c.TimesInJSON(body)
		if o := c.scan(body); o != nil {
			return o, nil, nil
		}
	case YAML:
		text, err := yaml.YAMLToJSON(body)
		if err != nil {
			break
		}
		if changed := c.TimesInJSON(text); &changed[0] != &text[0] {
			return c.decodeFromYAML(body, changed, validation)
		}
	case CBOR:
		body = c.timesInCBOR(body)
	}
	return c.decode(body, encoding, validation)
}

// decodeFromYAML decodes JSON that was made from YAML, and looks in the YAML for fields that are there twice.
func (c *Codec) decodeFromYAML(body, text []byte, validation Validation) (object.Object, []string, error) {
	o, warnings, err := c.decode(text, JSON, validation)
	if err != nil || validation == Ignore {
		return o, warnings, err
	}
	_, repeated := yaml.YAMLToJSONStrict(body)
	switch {
	case repeated == nil:
		return o, warnings, nil
	case validation == Warn:
		return o, slices.Insert(warnings, 0, repeated.Error()), nil
	}
	return nil, nil, undecodable(runtime.NewStrictDecodingError([]error{repeated}), &c.GroupVersionKind, c.GroupVersionKind, body)
}

// timesInCBOR is TimesInJSON for CBOR. It returns body itself if there is nothing to change, or if this is no map: the decoder
// will find out.
func (c *Codec) timesInCBOR(body []byte) []byte {
	var whole, spec map[string]cbor.RawMessage
	if UnmarshalCBOR(body, &whole) != nil || direct.Unmarshal(whole["spec"], &spec) != nil {
		return body
	}
	changed := false
	for _, name := range c.MicroTimes {
		var given string
		if spec[name] == nil || direct.Unmarshal(spec[name], &given) != nil {
			continue
		}
		if six, ok := object.SixDigits(given); ok {
			spec[name], changed = appendBytes(nil, six), true
		}
	}
	if !changed {
		return body
	}
	var err error
	if whole["spec"], err = direct.Marshal(spec); err != nil {
		return body
	}
	told, err := direct.Marshal(whole)
	if err != nil {
		return body
	}
	return told
}
