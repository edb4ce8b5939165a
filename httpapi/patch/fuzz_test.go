package patch_test

import (
	"errors"
	"testing"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/patch"
	"k8s.io/apimachinery/pkg/types"
)

// FuzzApply sees to it that no body brings the server down, and that what is refused is refused for a reason.
func FuzzApply(f *testing.F) {
	for _, body := range []string{
		`{"spec":{"holderIdentity":"two"}}`,
		`{"metadata":{"labels":{"k":null},"finalizers":["a/b"]}}`,
		`[{"op":"add","path":"/metadata/labels/l","value":"w"},{"op":"copy","from":"/metadata/labels/k","path":"/spec/holderIdentity"}]`,
		`[{"op":"test","path":"/metadata/finalizers/-1","value":null},{"op":"remove","path":""}]`,
		`{"metadata":{"ownerReferences":[{"$patch":"replace"},{"uid":"u2"}],"$setElementOrder/finalizers":["a"],"$retainKeys":["name"]}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}`,
	} {
		for kind := range 3 {
			f.Add(kind, []byte(body))
		}
	}
	kinds := []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType}
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		next, _, err := patch.Apply(lease.Kind, kinds[uint(kind)%3], held(), body, "")
		if (next == nil) == (err == nil) {
			t.Fatalf("%v and %v", next, err)
		}
		var refusal *patch.Error
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("refused for no reason of ours: %v", err)
		}
	})
}
