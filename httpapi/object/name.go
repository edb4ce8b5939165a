package object

import "k8s.io/apimachinery/pkg/util/rand"

const (
	// maxName is the limit of a DNS subdomain, which is what a name may be at most.
	maxName = 253
	// randomLetters is how many characters GenerateName adds.
	randomLetters = 5
)

// GenerateName adds five random characters to prefix, which is cut first if the name would grow too long. The
// characters are of the set bcdfghjklmnpqrstvwxz2456789: no vowels, so that no words come out. The name may be taken.
func GenerateName(prefix string) string {
	if len(prefix) > maxName-randomLetters {
		prefix = prefix[:maxName-randomLetters]
	}
	return prefix + rand.String(randomLetters)
}
