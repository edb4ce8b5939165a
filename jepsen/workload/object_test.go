package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leasehold/leasehold/jepsen/history"
)

const whole = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x","namespace":"a","uid":"u1","resourceVersion":"1005",
	"creationTimestamp":"2026-12-01T00:00:00Z","annotations":{"jepsen/id":"w-1"},"labels":{"group":"g2"},"finalizers":["jepsen/e1","jepsen/e2","jepsen/e2"],
	"managedFields":[{"manager":"jepsen","time":"2026-12-01T00:00:00Z"}]},"spec":{"holderIdentity":"w","leaseTransitions":3}}`

func TestVersionReadsWhatCheckersJudge(t *testing.T) {
	v, malformed := version([]byte(whole))
	assert.Empty(t, malformed)
	assert.NotZero(t, v.Digest)
	v.Digest = 0
	assert.Equal(t, history.Version{Key: "a/x", UID: "u1", Revision: 1005, ID: "w-1", Group: "g2", Holder: "w", Transitions: 3,
		Elements: []string{"e1", "e2", "e2"}, Created: 1796083200}, v)
}

func TestDigestIsOfWhatAllSeeAlike(t *testing.T) {
	seen := digest([]byte(whole))
	item := strings.Replace(whole, `"kind":"Lease","apiVersion":"coordination.k8s.io/v1",`, "", 1)
	assert.Equal(t, seen, digest([]byte(item)), "an item of a list")
	assert.Equal(t, seen, digest([]byte(strings.Replace(whole, "1005", "1006", 1))), "as it was when it was deleted")
	assert.NotEqual(t, seen, digest([]byte(strings.Replace(whole, `"manager":"jepsen"`, `"manager":"other"`, 1))), "managedFields are part of the object")
	assert.NotEqual(t, seen, digest([]byte(strings.Replace(whole, `"leaseTransitions":3`, `"leaseTransitions":4`, 1))))
}

func TestResourceVersionsOfAnotherFormAreMalformed(t *testing.T) {
	for _, bad := range []string{"", "0", "01", "+1", "-1", "1.0", "x", " 1", "18446744073709551616"} {
		_, err := parseRevision(bad)
		assert.Error(t, err, bad)
		_, malformed := version([]byte(strings.Replace(whole, `"1005"`, `"`+bad+`"`, 1)))
		assert.Contains(t, malformed, "resourceVersion")
	}
	n, err := parseRevision("18446744073709551615")
	assert.NoError(t, err)
	assert.Equal(t, uint64(18446744073709551615), n)
}

func TestWhatIsNoLeaseIsMalformed(t *testing.T) {
	for _, bad := range []string{`[]`, `{"metadata":{}}`, strings.Replace(whole, `"uid":"u1",`, "", 1), strings.Replace(whole, "2026-12-01T00:00:00Z", "yesterday", 1)} {
		_, malformed := version([]byte(bad))
		assert.NotEmpty(t, malformed, bad)
	}
}

func TestAReaderReadsAlikeWhetherItRemembersOrNot(t *testing.T) {
	r := newReader()
	for range 2 {
		for n := range remembered + 10 {
			raw := []byte(strings.Replace(whole, "1005", text(uint64(n+1)), 1))
			v, malformed := r.version(raw)
			if v.Revision != uint64(n+1) || malformed != "" || len(v.Elements) != 3 {
				t.Fatalf("%d is read as %+v, %s", n+1, v, malformed)
			}
		}
	}
	assert.LessOrEqual(t, len(r.objects.now)+len(r.objects.old), 2*remembered)
	bad := []byte(strings.Replace(whole, "1005", "x", 1))
	_, first := r.version(bad)
	_, again := r.version(bad)
	assert.NotEmpty(t, first)
	assert.Equal(t, first, again)
}
