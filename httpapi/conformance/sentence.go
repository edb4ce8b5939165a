package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

var (
	digits    = regexp.MustCompile(`\d+`)
	anyMoment = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [+-]\d{4} \w+)`)
)

// sentence notes a text meant for people by its hash, and the text itself beside.
func (n *neutraliser) sentence(place, text string) {
	text = anyMoment.ReplaceAllString(n.text(text), "<time>")
	text = digits.ReplaceAllStringFunc(text, func(number string) string {
		if n.anyNumbers {
			return "N"
		}
		if version := n.versions[number]; version != "" && len(number) > 1 {
			return version
		}
		return number
	})
	n.soft["message "+place] = hash(text)
	n.sentences["message "+place] = text
}

// hash is what recordings hold of a sentence.
func hash(sentence string) string {
	sum := sha256.Sum256([]byte(sentence))
	return hex.EncodeToString(sum[:6])
}
