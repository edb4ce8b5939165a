package patch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasehold/leasehold/httpapi/lease"
	"github.com/leasehold/leasehold/httpapi/patch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	ignore = metav1.FieldValidationIgnore
	warn   = metav1.FieldValidationWarn
	strict = metav1.FieldValidationStrict
)

// held is the object that the tests patch.
func held() *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7",
			CreationTimestamp: metav1.Unix(1_700_000_000, 0),
			Labels:            map[string]string{"k": "v"},
			Finalizers:        []string{"example.com/a", "example.com/b"},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u1"}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("one"),
			RenewTime:      &metav1.MicroTime{Time: time.Date(2024, 1, 2, 3, 4, 5, 678901000, time.UTC)},
		},
	}
}

// changed renders what differs from held, field by field, as a merge patch would.
func changed(t *testing.T, next *coordinationv1.Lease) string {
	t.Helper()
	before, err := json.Marshal(held())
	require.NoError(t, err)
	after, err := json.Marshal(next)
	require.NoError(t, err)
	diff, err := diff(before, after)
	require.NoError(t, err)
	return string(diff)
}

func TestApply(t *testing.T) {
	type patchType = types.PatchType
	const (
		merge     = types.MergePatchType
		jsonPatch = types.JSONPatchType
		smp       = types.StrategicMergePatchType
	)
	for name, c := range map[string]struct {
		kind     patchType
		body     string
		want     string // as a merge patch over held
		warnings []string
	}{
		"merge sets":               {merge, `{"spec":{"holderIdentity":"two"}}`, `{"spec":{"holderIdentity":"two"}}`, nil},
		"merge empty":              {merge, `{}`, `{}`, nil},
		"merge null spec":          {merge, `{"spec":null}`, `{"spec":{"holderIdentity":null,"renewTime":null}}`, nil},
		"merge replaces lists":     {merge, `{"metadata":{"finalizers":["example.com/c"]}}`, `{"metadata":{"finalizers":["example.com/c"]}}`, nil},
		"merge no version":         {merge, `{"metadata":{"resourceVersion":null}}`, `{"metadata":{"resourceVersion":null}}`, nil},
		"merge other name":         {merge, `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b"}}`, nil},
		"merge unknown field":      {merge, `{"spec":{"colour":"red"}}`, `{}`, []string{`unknown field "spec.colour"`}},
		"merge wrong case":         {merge, `{"spec":{"HolderIdentity":"x"}}`, `{}`, []string{`unknown field "spec.HolderIdentity"`}},
		"merge repeated field":     {merge, `{"spec":{"holderIdentity":"x","holderIdentity":"z"}}`, `{"spec":{"holderIdentity":"z"}}`, []string{`duplicate field "spec.holderIdentity"`}},
		"merge without kind":       {merge, `{"kind":null,"apiVersion":null}`, `{}`, nil},
		"merge same time":          {merge, `{"spec":{"renewTime":"2024-01-02T08:34:05.678901+05:30"}}`, `{}`, nil},
		"json replace":             {jsonPatch, `[{"op":"replace","path":"/spec/holderIdentity","value":"two"}]`, `{"spec":{"holderIdentity":"two"}}`, nil},
		"json escaped key":         {jsonPatch, `[{"op":"move","from":"/metadata/labels/k","path":"/metadata/labels/example.com~1q"}]`, `{"metadata":{"labels":{"k":null,"example.com/q":"v"}}}`, nil},
		"json tests version":       {jsonPatch, `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"test","path":"/kind","value":"Lease"}]`, `{}`, nil},
		"json replace by nothing":  {jsonPatch, `[{"op":"replace","path":"/spec/holderIdentity"}]`, `{"spec":{"holderIdentity":null}}`, nil},
		"json pointer of the root": {jsonPatch, `[{"op":"replace","path":"spec/colour","value":"two"}]`, `{}`, []string{`unknown field "colour"`}},
		"json unknown key":         {jsonPatch, `[{"op":"test","path":"/kind","value":"Lease","why":1}]`, `{}`, []string{`json patch unknown field "[0].why"`}},
		"json repeated key":        {jsonPatch, `[{"op":"test","op":"test","path":"/kind","value":"Lease"}]`, `{}`, []string{`json patch duplicate field "[0].op"`}},
		"strategic sets":           {smp, `{"metadata":{"labels":{"l":"w"}},"spec":{"holderIdentity":"two"}}`, `{"metadata":{"labels":{"l":"w"}},"spec":{"holderIdentity":"two"}}`, nil},
		"strategic removes":        {smp, `{"metadata":{"labels":{"k":null}},"spec":{"holderIdentity":null}}`, `{"metadata":{"labels":null},"spec":{"holderIdentity":null}}`, nil},
		"strategic drops labels":   {smp, `{"metadata":{"labels":{"$patch":"delete"}}}`, `{"metadata":{"labels":null}}`, nil},
		"strategic adds finalizer": {smp, `{"metadata":{"finalizers":["example.com/c"]}}`, `{"metadata":{"finalizers":["example.com/c","example.com/a","example.com/b"]}}`, nil},
		"strategic drops finalizer": {smp, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}`,
			`{"metadata":{"finalizers":["example.com/b"]}}`, nil},
		"strategic changes owner": {smp, `{"metadata":{"ownerReferences":[{"uid":"u1","name":"q"}]}}`,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u1"}]}}`, nil},
		"strategic replaces owners": {smp, `{"metadata":{"ownerReferences":[{"$patch":"replace"},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u2"}]}}`,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"q","uid":"u2"}]}}`, nil},
		"strategic unknown field": {smp, `{"spec":{"colour":"red"}}`, `{}`, []string{`unknown field "spec.colour"`}},
		"strategic repeated field": {smp, `{"spec":{"holderIdentity":"x","holderIdentity":"z"}}`, `{"spec":{"holderIdentity":"z"}}`,
			[]string{`duplicate field "spec.holderIdentity"`}},
	} {
		t.Run(name, func(t *testing.T) {
			current := held()
			next, warnings, err := patch.Apply(lease.Kind, c.kind, current, []byte(c.body), "")
			require.NoError(t, err)
			assert.JSONEq(t, c.want, changed(t, next.(*coordinationv1.Lease)))
			assert.Equal(t, c.warnings, warnings)
			assert.Equal(t, held(), current, "current is not touched")

			_, warnings, err = patch.Apply(lease.Kind, c.kind, current, []byte(c.body), ignore)
			require.NoError(t, err)
			assert.Empty(t, warnings)

			_, _, err = patch.Apply(lease.Kind, c.kind, current, []byte(c.body), strict)
			if len(c.warnings) == 0 {
				assert.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, patch.ErrResult)
			assert.ErrorContains(t, err, c.warnings[0])
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := func(n int) string {
		return "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"Lease"},`, n-1) + `{"op":"test","path":"/kind","value":"Lease"}]`
	}
	finalizers := func(n int) string { return strings.Repeat(`"example.com/a",`, n-1) + `"example.com/a"` }
	doubling := func(times int) string { // a kilobyte becomes 2^times of them
		body := `[{"op":"add","path":"/metadata/annotations","value":{"a":"` + strings.Repeat("x", 1024) + `"}}`
		for i := range times {
			body += fmt.Sprintf(`,{"op":"copy","from":"/metadata/annotations","path":"/metadata/annotations/%d"}`, i)
		}
		return body + `,{"op":"replace","path":"/metadata/annotations","value":{}}]`
	}
	for name, c := range map[string]struct {
		kind            types.PatchType
		body            string
		fieldValidation string
		want            error
	}{
		"merge of 9000 levels":           {types.MergePatchType, strings.Repeat(`{"a":`, 9000) + "{}" + strings.Repeat("}", 9000), warn, patch.ErrTooManyOperations},
		"merge of 65 lists":              {types.MergePatchType, `{"a":` + strings.Repeat(`[`, 64) + strings.Repeat("]", 64) + `}`, ignore, patch.ErrTooManyOperations},
		"merge malformed":                {types.MergePatchType, `{"spec":`, warn, patch.ErrMalformed},
		"merge malformed, ignored":       {types.MergePatchType, `{"spec":`, ignore, patch.ErrMalformed},
		"merge a list":                   {types.MergePatchType, `[]`, warn, patch.ErrMalformed},
		"merge other kind":               {types.MergePatchType, `{"kind":"Namespace"}`, warn, patch.ErrResult},
		"merge other version":            {types.MergePatchType, `{"apiVersion":"coordination.k8s.io/v9"}`, warn, patch.ErrResult},
		"merge wrong type":               {types.MergePatchType, `{"spec":{"leaseDurationSeconds":"many"}}`, warn, patch.ErrResult},
		"merge bad time":                 {types.MergePatchType, `{"spec":{"renewTime":"2024-01-02T03:04:05Z"}}`, ignore, patch.ErrResult},
		"merge whole float":              {types.MergePatchType, `{"spec":{"leaseDurationSeconds":15.0}}`, warn, patch.ErrResult},
		"json malformed":                 {types.JSONPatchType, `[{"op":`, warn, patch.ErrMalformed},
		"json malformed, ignored":        {types.JSONPatchType, `[{"op":`, ignore, patch.ErrMalformed},
		"json not a list":                {types.JSONPatchType, `{"op":"add"}`, warn, patch.ErrMalformed},
		"json failed test":               {types.JSONPatchType, `[{"op":"test","path":"/spec/holderIdentity","value":"x"}]`, warn, patch.ErrImpossible},
		"json missing path":              {types.JSONPatchType, `[{"op":"replace","path":"/spec/nothing/here","value":"x"}]`, warn, patch.ErrImpossible},
		"json unknown operation":         {types.JSONPatchType, `[{"op":"paint","path":"/spec/holderIdentity","value":"x"}]`, warn, patch.ErrImpossible},
		"json test without a value":      {types.JSONPatchType, `[{"op":"test","path":""}]`, warn, patch.ErrImpossible},
		"json 10001 operations":          {types.JSONPatchType, tests(10001), warn, patch.ErrTooManyOperations},
		"json copies of copies":          {types.JSONPatchType, doubling(14), warn, patch.ErrImpossible},
		"strategic order of many":        {types.StrategicMergePatchType, `{"metadata":{"$setElementOrder/finalizers":[` + finalizers(6000) + `]}}`, warn, patch.ErrTooManyOperations},
		"strategic malformed":            {types.StrategicMergePatchType, `{"spec"`, warn, patch.ErrMalformed},
		"strategic malformed, ignored":   {types.StrategicMergePatchType, `{"spec"`, ignore, patch.ErrMalformed},
		"strategic without merge key":    {types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[{"name":"q"}]}}`, warn, patch.ErrDirective},
		"strategic unknown directive":    {types.StrategicMergePatchType, `{"spec":{"$patch":"explode"}}`, warn, patch.ErrDirective},
		"strategic wrong type":           {types.StrategicMergePatchType, `{"spec":{"leaseDurationSeconds":"many"}}`, warn, patch.ErrResult},
		"strategic fraction":             {types.StrategicMergePatchType, `{"spec":{"leaseDurationSeconds":1.5}}`, warn, patch.ErrResult},
		"plain JSON is no kind of patch": {"application/json", `{}`, warn, patch.ErrUnsupportedType},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := patch.Apply(lease.Kind, c.kind, held(), []byte(c.body), c.fieldValidation)
			require.ErrorIs(t, err, c.want)
			var refusal *patch.Error
			require.ErrorAs(t, err, &refusal)
			if c.want == patch.ErrResult {
				require.Len(t, refusal.Causes, 1)
				assert.Equal(t, "patch", refusal.Causes[0].Field)
			}
		})
	}

	_, _, err := patch.Apply(lease.Kind, types.JSONPatchType, held(), []byte(tests(10000)), warn)
	require.NoError(t, err, "ten thousand operations are allowed")

	deep := `{"metadata":{"annotations":{"a":"\"{{[["}},"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`
	_, _, err = patch.Apply(lease.Kind, types.MergePatchType, held(), []byte(deep), warn)
	require.NoError(t, err, "64 levels are allowed, and braces in a string are none")
}
