package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasehold/leasehold/fsm"
)

// holdings is all that a door stores, in order.
type holdings struct {
	revision uint64
	objects  []*fsm.Object
}

func (d *fuzzed) holdings() holdings {
	state := d.node.State()
	held := holdings{revision: state.Revision(), objects: make([]*fsm.Object, 0, state.Len())}
	for _, resource := range []string{"leases", "leasecandidates"} {
		held.objects = slices.AppendSeq(held.objects, state.Scan(resource, "", ""))
	}
	return held
}

func (h holdings) get(key fsm.Key) *fsm.Object {
	for _, object := range h.objects {
		if object.Key == key {
			return object
		}
	}
	return nil
}

func (h holdings) equal(other holdings) bool {
	return h.revision == other.revision && slices.Equal(h.objects, other.objects)
}

// checkWritten looks at what is stored now.
func (d *fuzzed) checkWritten(t *testing.T, c call, answer *recorded, before holdings) {
	after := d.holdings()
	d.checkStock(t)
	wrote := !after.equal(before)
	where, ofResource := c.place()
	collection := c.method == http.MethodDelete && where.name == ""
	switch {
	case !wrote:
	case !ofResource:
		t.Fatalf("%s %s wrote something", c.method, c.target)
	case c.method != http.MethodPost && c.method != http.MethodPut && c.method != http.MethodPatch && c.method != http.MethodDelete:
		t.Fatalf("a %s wrote something", c.method)
	case answer.code >= 400 && !collection: // which may end half done
		t.Fatalf("a request that was refused with %d wrote something: %s", answer.code, answer.body.Bytes())
	case slices.Contains(c.query()["dryRun"], "All") && (c.method != http.MethodDelete || c.body == ""):
		t.Fatalf("a dry run wrote something")
	case after.revision != before.revision+1 && !collection:
		t.Fatalf("one request made %d versions", after.revision-before.revision)
	}
	if wrote {
		d.checkElsewhere(t, where, before, after)
	}
	if wrote && answer.code < 300 && !collection {
		d.checkChange(t, c, answer, before, after)
	}
}

// checkStock sees to it that nobody wrote into the bytes of a stored version.
func (d *fuzzed) checkStock(t *testing.T) {
	for i := range d.stock {
		if !bytes.Equal(d.stock[i].Object, d.pristine[i]) {
			t.Fatalf("the stored bytes of %v were changed", d.stock[i].Key)
		}
	}
}

// checkElsewhere sees to it that only what the path is about was written.
func (d *fuzzed) checkElsewhere(t *testing.T, where place, before, after holdings) {
	concerned := func(key fsm.Key) bool {
		return key.Resource == where.resource && key.Namespace == where.namespace && (where.name == "" || key.Name == where.name)
	}
	for _, object := range before.objects {
		if !concerned(object.Key) && after.get(object.Key) != object {
			t.Fatalf("%v was written at %+v", object.Key, where)
		}
	}
	for _, object := range after.objects {
		if !concerned(object.Key) && before.get(object.Key) != object {
			t.Fatalf("%v was written at %+v", object.Key, where)
		}
	}
}

// checkChange looks at the one object that was written.
func (d *fuzzed) checkChange(t *testing.T, c call, answer *recorded, before, after holdings) {
	changed, removed := difference(before, after)
	if len(changed)+len(removed) != 1 {
		t.Fatalf("one request wrote %d objects and removed %d", len(changed), len(removed))
	}
	where, _ := c.place()
	if len(removed) == 1 {
		if got := d.get(where, removed[0].Key, "application/json", nil); got.code != http.StatusNotFound {
			t.Fatalf("%v was removed, but a get is answered %d", removed[0].Key, got.code)
		}
		return
	}
	key := changed[0].Key
	if c.method != http.MethodDelete || !showsCascade(answer) {
		d.checkAnswered(t, c, where, key, answer)
	}
	d.checkRoundTrips(t, where, key)
}

// showsCascade tells whether the answer to a delete has a finalizer of the garbage collector, which is shown and not kept.
func showsCascade(answer *recorded) bool {
	body := answer.body.Bytes()
	return bytes.Contains(body, []byte(metav1.FinalizerOrphanDependents)) || bytes.Contains(body, []byte(metav1.FinalizerDeleteDependents))
}

// difference finds what is new and what is gone.
func difference(before, after holdings) (changed, removed []*fsm.Object) {
	for _, object := range after.objects {
		if before.get(object.Key) != object {
			changed = append(changed, object)
		}
	}
	for _, object := range before.objects {
		if after.get(object.Key) == nil {
			removed = append(removed, object)
		}
	}
	return changed, removed
}

// checkAnswered sees to it that a write answers what a get answers after it.
func (d *fuzzed) checkAnswered(t *testing.T, c call, where place, key fsm.Key, answer *recorded) {
	accept := c.header.Get("Accept")
	if strings.Contains(accept, "Table") {
		return // it holds ages
	}
	query := url.Values{}
	if pretty, ok := c.query()["pretty"]; ok {
		query["pretty"] = pretty
	}
	got := d.get(where, key, accept, query)
	if got.code != http.StatusOK || !bytes.Equal(got.body.Bytes(), answer.body.Bytes()) {
		t.Fatalf("the answer was\n%s\na get is answered %d\n%s", answer.body.Bytes(), got.code, got.body.Bytes())
	}
}

// get reads one object.
func (d *fuzzed) get(where place, key fsm.Key, accept string, query url.Values) *recorded {
	target := where.of(key)
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return d.send(call{method: http.MethodGet, target: target, header: as(adminToken, "Accept", accept)})
}

// of is the path of one object, of the version that the place is of.
func (p place) of(key fsm.Key) string {
	return "/apis/coordination.k8s.io/" + p.version + "/namespaces/" + key.Namespace + "/" + key.Resource + "/" + key.Name
}

// checkRoundTrips sees to it that what is stored reads the same in every encoding, as apimachinery's encoders write it, and
// that writing back what was read, strictly, changes nothing.
func (d *fuzzed) checkRoundTrips(t *testing.T, where place, key fsm.Key) {
	revision := d.node.State().Revision()
	binary := d.get(where, key, "application/vnd.kubernetes.protobuf", nil)
	truth, err := decodeAnswer(protoAnswer, binary.body.Bytes())
	require.NoError(t, err)
	if fault := objectFault(truth); fault != "" {
		t.Fatalf("what is stored is not valid: %s", fault)
	}
	for _, encoding := range d.encodings {
		if !encoding.binary && isMangled(truth) {
			continue
		}
		got := d.get(where, key, encoding.mediaType, nil)
		object, err := decodeAnswer(encoding.serializer, got.body.Bytes())
		if err != nil {
			t.Fatalf("what is stored cannot be read: %v", err)
		}
		if !apiequality.Semantic.DeepEqual(object, truth) {
			t.Fatalf("as %s it is\n%+v\nand in protobuf\n%+v", encoding.mediaType, object, truth)
		}
		var written bytes.Buffer
		err = encoding.serializer.Encode(truth, &written)
		if !unwritable.Match(got.body.Bytes()) && (err != nil || !bytes.Equal(written.Bytes(), got.body.Bytes())) {
			t.Fatalf("%s (%v):\n%s\napimachinery writes\n%s", encoding.mediaType, err, got.body.Bytes(), written.Bytes())
		}
		back := d.send(call{
			method: http.MethodPut, target: where.of(key) + "?fieldValidation=Strict", body: got.body.String(),
			header: as(adminToken, "Content-Type", encoding.mediaType),
		})
		if back.code != http.StatusOK || d.node.State().Revision() != revision {
			t.Fatalf("written back as %s what was read is answered %d: %s", encoding.mediaType, back.code, back.body.Bytes())
		}
	}
}

// objectFault says what is wrong with a stored object, by apimachinery's rules for metadata and by what a Lease's numbers
// must be; "" for nothing.
func objectFault(object runtime.Object) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err.Error()
	}
	nameFault := validation.NameIsDNSSubdomain
	if _, ok := object.(*coordinationv1.Lease); !ok {
		nameFault = func(name string, _ bool) []string { return utilvalidation.IsConfigMapKey(name) }
	}
	found := validation.ValidateObjectMetaAccessor(accessor, true, nameFault, field.NewPath("metadata"))
	if accessor.GetUID() == "" || accessor.GetResourceVersion() == "" || accessor.GetCreationTimestamp().Time.IsZero() {
		found = append(found, field.Required(field.NewPath("metadata"), "uid, version, creation"))
	}
	if lease, ok := object.(*coordinationv1.Lease); ok {
		spec := lease.Spec
		if spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds <= 0 || spec.LeaseTransitions != nil && *spec.LeaseTransitions < 0 {
			found = append(found, field.Invalid(field.NewPath("spec"), spec, "numbers"))
		}
	}
	if len(found) > 0 {
		return found.ToAggregate().Error()
	}
	return ""
}

// mangled is what JSON has no form for: text that is no UTF-8, years of other than four digits.
var mangled = regexp.MustCompile(`\\ufffd|"(-\d|\d{5,}-)[-\d]*T`)

// unwritable is YAML of what apimachinery does not write as YAML, or writes as something else.
var unwritable = regexp.MustCompile(`\\(x7F|x[89][0-9A-F]|N|uFEFF|uFFF[EF])`)

func isMangled(object runtime.Object) bool {
	text, err := json.Marshal(object)
	return err != nil || mangled.Match(text)
}
