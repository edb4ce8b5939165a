package httpapi

import (
	"net/http"
	"regexp"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// serverErrors are all the ways in which a client may get an answer of 5xx from a node that is well: those in which it
// gets one from kube-apiserver too. An answer that no line knows is a fault.
var serverErrors = []struct {
	what    string
	code    int32
	when    func(c call) bool // of the request; nil for any
	message *regexp.Regexp
}{
	{"a version that is no number, of a get or a watch", 500, isMethod(http.MethodGet), regexp.MustCompile(`^resourceVersion: Invalid value: `)},
	{"a version that is yet to come", 504, nil, regexp.MustCompile(`^Timeout: Too large resource version: \d+, current: \d+$`)},
	{"a version in the body of a create", 500, isMethod(http.MethodPost), regexp.MustCompile(`^resourceVersion should not be set on objects to be created$`)},
	{"a version that is no number, in what is written", 500, isMethod(http.MethodPut, http.MethodPatch), regexp.MustCompile(`^strconv.ParseUint: parsing `)},
	{"a shard selector that is none", 500, func(c call) bool { return c.query().Has("shardSelector") }, regexp.MustCompile(`^invalid shard selector: `)},
	{"more than is stored", 500, func(c call) bool { return len(c.body) > maxObject/8 }, regexp.MustCompile(`too large`)},
	{"more than is stored, by copies", 500, isPatch("application/json-patch+json"), regexp.MustCompile(`too large`)},
	{"a strategic patch that asks for what there is not", 500, func(c call) bool {
		return isPatch("application/strategic-merge-patch+json")(c) && !c.holdsLease()
	}, regexp.MustCompile(`.`)},
	{"an applied configuration that is no Lease", 500, func(c call) bool {
		return isPatch("application/apply-patch+")(c) && !(strings.Contains(c.body, "apiVersion") && strings.Contains(c.body, "kind") && c.holdsLease())
	}, regexp.MustCompile(`.`)},
}

// holdsLease tells whether a body holds fields of a Lease and nothing else, and lists in which nothing stands twice: there is
// nothing in it to stumble over.
func (c call) holdsLease() bool {
	lease := new(coordinationv1.Lease)
	if strings.HasSuffix(c.header.Get("Content-Type"), "cbor") {
		if _, _, err := cborAnswer.Decode([]byte(c.body), &leaseKind, lease); err != nil {
			return false
		}
	} else {
		text, err := yaml.YAMLToJSONStrict([]byte(c.body))
		if err != nil {
			return false
		}
		if strict, err := kjson.UnmarshalStrict(text, lease); err != nil || len(strict) > 0 {
			return false
		}
	}
	if lease.APIVersion != "" && lease.APIVersion != "coordination.k8s.io/v1" || lease.Kind != "" && lease.Kind != "Lease" {
		return false
	}
	seen := map[string]bool{}
	for _, owner := range lease.OwnerReferences {
		if owner.UID == "" || seen[string(owner.UID)] {
			return false
		}
		seen[string(owner.UID)] = true
	}
	for _, finalizer := range lease.Finalizers {
		if seen[finalizer] {
			return false
		}
		seen[finalizer] = true
	}
	return true
}

func isMethod(methods ...string) func(call) bool {
	return func(c call) bool { return strings.Contains(strings.Join(methods, " "), c.method) }
}

func isPatch(contentType string) func(call) bool {
	return func(c call) bool {
		return c.method == http.MethodPatch && strings.HasPrefix(c.header.Get("Content-Type"), contentType)
	}
}

// serverError tells which line knows an answer of 5xx, "" for none.
func serverError(c call, status *metav1.Status) string {
	for _, known := range serverErrors {
		if known.code == status.Code && (known.when == nil || known.when(c)) && known.message.MatchString(status.Message) {
			return known.what
		}
	}
	return ""
}
