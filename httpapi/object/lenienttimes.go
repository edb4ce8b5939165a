package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// TimesInJSON returns an object's JSON with the times in its spec as metav1.MicroTime reads them. If times are lenient, one
// that has no fraction or one of another length than six digits is made what its sender would have written with six;
// nothing else changes, so that what is wrong otherwise is found, and told, as ever. It returns text itself if there is
// nothing to change, or if this is no JSON object: the decoder will find out.
func (k *Kind) TimesInJSON(text []byte) []byte {
	if !k.LenientTimes {
		return text
	}
	var out []byte
	copied := 0 // how much of text is in out
	err := members(text, func(name string, start, end int) error {
		if name != "spec" || text[start] != '{' {
			return nil
		}
		return members(text[start:end], func(name string, from, to int) error {
			var given string
			value := text[start:][from:to]
			if !slices.Contains(k.MicroTimes, name) || json.Unmarshal(value, &given) != nil {
				return nil
			}
			if six, ok := SixDigits(given); ok {
				out = append(append(out, text[copied:start+from]...), `"`+six+`"`...)
				copied = start + to
			}
			return nil
		})
	})
	if err != nil || copied == 0 {
		return text
	}
	return append(out, text[copied:]...)
}

// members visits the members of a JSON object: value lies at text[start:end].
func members(text []byte, visit func(name string, start, end int) error) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return errors.New("no JSON object")
	}
	var value json.RawMessage
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		end := int(decoder.InputOffset())
		if err := visit(name.(string), end-len(value), end); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// TimesInTree is TimesInJSON for an object that is a tree already, which it changes.
func (k *Kind) TimesInTree(object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	if !k.LenientTimes || spec == nil {
		return
	}
	for _, name := range k.MicroTimes {
		if text, isText := spec[name].(string); isText {
			if six, ok := SixDigits(text); ok {
				spec[name] = six
			}
		}
	}
}

// SixDigits writes a time with six digits after the seconds. It is not ok if that is how it is written, or if this is no
// time that differs from MicroTime's form by that alone.
func SixDigits(text string) (six string, ok bool) {
	// When it parses, package time takes a fraction of any length although the layout has none, and is as strict or lax
	// about all else as with MicroTime's layout.
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return "", false
	}
	zone := len("Z")
	if text[len(text)-1] != 'Z' {
		zone = len("+00:00")
	}
	head, tail := text[:len(text)-zone], text[len(text)-zone:]
	digits := ""
	if at := strings.LastIndexAny(head, ".,"); at >= 0 {
		head, digits = head[:at], head[at+1:]
	}
	if len(digits) == 6 || len(digits) > 9 {
		return "", false
	}
	return head + "." + (digits + "000000")[:6] + tail, true
}
