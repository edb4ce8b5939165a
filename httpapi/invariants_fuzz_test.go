package httpapi

import (
	"net/http"
	"net/url"
	"regexp"
	runtimemetrics "runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What one request may cost, however it is made: so much, and so much for each byte that it sends. The factors are those
// of honest work on short requests with room to spare; what they shall catch grows with a power of the request.
const (
	allowedMemory, memoryPerByte = 48 << 20, 4000
	allowedAnswer, answerPerByte = 64 << 10, 64
	largestDocument              = 1 << 20 // of those that tell what is served
)

// execute sends a request to a door whose store is as new, and sees to it that what must hold of any request does:
//   - nothing panicked, nothing was worth a line of the log;
//   - memory and the answer are in proportion to the request;
//   - a resource's answer is a Status or an object in the encoding that its Content-Type names, a refusal is a Status of
//     the answer's code, and a 5xx is one of serverErrors;
//   - a read, a refusal and a dry run have written nothing;
//   - what was written is what was answered, is valid, and is the same in every encoding, both ways.
func (d *fuzzed) execute(t *testing.T, c call) *recorded {
	d.refresh(t)
	before := d.holdings()
	allocated := allocatedBytes()
	answer := d.send(c)
	allocated = allocatedBytes() - allocated
	if answer == nil {
		return nil
	}
	require.Empty(t, d.faults.take(), "the log")
	if limit := uint64(allowedMemory + memoryPerByte*c.size()); allocated > limit {
		t.Fatalf("a request of %d bytes took %d bytes of memory", c.size(), allocated)
	}
	limit := allowedAnswer + answerPerByte*c.size()
	if _, ofResource := c.place(); !ofResource {
		limit += largestDocument
	}
	if answer.size() > limit {
		t.Fatalf("a request of %d bytes has an answer of %d", c.size(), answer.size())
	}
	if answer.code < 200 && answer.code != http.StatusSwitchingProtocols || answer.code > 599 {
		t.Fatalf("code %d", answer.code)
	}
	d.checkAnswer(t, c, answer)
	d.checkWritten(t, c, answer, before)
	return answer
}

// size is that of everything that is sent.
func (a *recorded) size() int {
	size := a.body.Len()
	for name, values := range a.header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// allocatedBytes is how much this process has allocated since it began.
func allocatedBytes() uint64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	runtimemetrics.Read(sample)
	return sample[0].Value.Uint64()
}

// resourcePath are the paths at which resources are served, understood anew.
var resourcePath = regexp.MustCompile(`^/apis/coordination\.k8s\.io/(v1|v1beta1|v1alpha2)/(watch/)?(?:namespaces/([^/]+)/)?(leases|leasecandidates)(?:/([^/]+))?/?$`)

// place is what a path is about.
type place struct {
	version, resource, namespace, name string
	watched                            bool
}

func (c call) place() (place, bool) {
	path, _, _ := strings.Cut(c.target, "?")
	found := resourcePath.FindStringSubmatch(path)
	if found == nil {
		return place{}, false
	}
	namespace, err := url.PathUnescape(found[3])
	name, err2 := url.PathUnescape(found[5])
	return place{found[1], found[4], namespace, name, found[2] != ""}, err == nil && err2 == nil
}

func (c call) query() url.Values {
	_, query, _ := strings.Cut(c.target, "?")
	values, _ := url.ParseQuery(query)
	return values
}

// checkAnswer looks at what went out.
func (d *fuzzed) checkAnswer(t *testing.T, c call, answer *recorded) {
	if answer.code == http.StatusSwitchingProtocols {
		return
	}
	_, ofResource := c.place()
	if !ofResource {
		if answer.code >= 500 {
			t.Fatalf("code %d: %s", answer.code, answer.body.Bytes())
		}
		return
	}
	stream := answer.streams
	objects, events, err := answer.read(stream)
	if err != nil {
		t.Fatalf("an answer of %d that cannot be read: %v", answer.code, err)
	}
	for i, object := range objects {
		status, ok := object.(*metav1.Status)
		switch {
		case ok && stream:
			if events[i] != "ERROR" || i < len(events)-1 {
				t.Fatalf("event %d of %v is a Status", i, events)
			}
			continue
		case !ok && answer.code >= 400:
			t.Fatalf("an answer of %d is a %T", answer.code, object)
		case !ok:
			continue
		}
		if fault := statusFault(status, answer.code); fault != "" {
			t.Fatalf("the Status of an answer of %d %s: %s", answer.code, fault, answer.body.Bytes())
		}
		if answer.code >= 500 && serverError(c, status) == "" {
			t.Fatalf("a %d that kube-apiserver does not give: %s", answer.code, answer.body.Bytes())
		}
	}
}
