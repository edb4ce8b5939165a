package fieldmanager_test

import (
	"testing"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/leasehold/leasehold/httpapi/media"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// conflicts renders the causes of an error that must be a conflict.
func conflicts(t *testing.T, err error) []string {
	var conflict *fieldmanager.Conflict
	require.ErrorAs(t, err, &conflict)
	out := []string{}
	for _, cause := range conflict.Causes {
		assert.EqualValues(t, "FieldManagerConflict", cause.Type)
		out = append(out, cause.Field+" "+cause.Message)
	}
	return out
}

func TestApplyCreates(t *testing.T) {
	d := open(t)
	l := d.mustApply(nil, "alpha", `,"labels":{"k":"v"}},"spec":{"holderIdentity":"one","renewTime":"2024-01-02T03:04:05.678901Z"}`)
	assert.Equal(t, "one", *l.Spec.HolderIdentity)
	assert.Empty(t, l.Kind)
	assert.Equal(t, []string{
		`alpha Apply 1 {"f:metadata":{"f:labels":{"f:k":{}}},"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}`}, owners(l))
}

func TestAnApplyOfNothingIsNotTracked(t *testing.T) {
	d := open(t)
	assert.Empty(t, d.mustApply(nil, "alpha", `}`).ManagedFields)
}

func TestApplyReadsYAML(t *testing.T) {
	d := open(t)
	body := "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: a\nspec:\n  holderIdentity: one # remark\n"
	l, warnings, err := d.manager.Apply(nil, []byte(body+"---\nother: document\n"), media.YAML, "alpha", false, "", start)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, "one", *l.(*coordinationv1.Lease).Spec.HolderIdentity)
}

func TestApplyDropsWhatItNoLongerNames(t *testing.T) {
	d := open(t)
	l := d.mustApply(nil, "alpha", `,"labels":{"one":"v"},"finalizers":["example.com/a","example.com/b"]}`)
	l = d.mustApply(l, "beta", `,"labels":{"two":"v"},"finalizers":["example.com/b","example.com/c"]}`)
	l = d.mustApply(l, "alpha", `,"finalizers":["example.com/a"]}`)
	assert.Equal(t, map[string]string{"two": "v"}, l.Labels)
	assert.ElementsMatch(t, []string{"example.com/a", "example.com/b", "example.com/c"}, l.Finalizers)

	l = d.mustApply(l, "beta", `}`)
	assert.Empty(t, l.Labels)
	assert.Equal(t, []string{"example.com/a"}, l.Finalizers)
	assert.Equal(t, []string{`alpha Apply 3 {"f:metadata":{"f:finalizers":{"v:\"example.com/a\"":{}}}}`}, owners(l))
}

func TestApplyConflictsWithAppliersAndUpdaters(t *testing.T) {
	d := open(t)
	l := d.mustApply(nil, "alpha", `},"spec":{"holderIdentity":"one","leaseDurationSeconds":5}`)
	_, err := d.apply(l, "beta", `},"spec":{"holderIdentity":"two","leaseDurationSeconds":6}`, false)
	assert.ElementsMatch(t, []string{
		`.spec.holderIdentity conflict with "alpha"`, `.spec.leaseDurationSeconds conflict with "alpha"`}, conflicts(t, err))

	forced, err := d.apply(l, "beta", `},"spec":{"holderIdentity":"two"}`, true)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`alpha Apply 1 {"f:spec":{"f:leaseDurationSeconds":{}}}`,
		`beta Apply 3 {"f:spec":{"f:holderIdentity":{}}}`}, owners(forced))

	updated := d.update(l, "maker", held("three"))
	_, err = d.apply(updated, "alpha", `},"spec":{"holderIdentity":"one","leaseDurationSeconds":5}`, false)
	require.Len(t, conflicts(t, err), 1)
	assert.Contains(t, conflicts(t, err)[0], `.spec.holderIdentity conflict with "maker" using coordination.k8s.io/v1`)
	assert.ErrorContains(t, err, "Apply failed with 1 conflict")
}

func TestTheSameValueIsOwnedTogether(t *testing.T) {
	d := open(t)
	l := d.mustApply(nil, "alpha", `},"spec":{"holderIdentity":"one"}`)
	l = d.mustApply(l, "beta", `},"spec":{"holderIdentity":"one"}`)
	l = d.mustApply(l, "alpha", `}`)
	assert.Equal(t, "one", *l.Spec.HolderIdentity)
	require.Len(t, l.ManagedFields, 1)
	assert.Equal(t, "beta", l.ManagedFields[0].Manager)
}

func TestTheFirstApplyTurnsTrackingOn(t *testing.T) {
	d := open(t)
	l := d.create("one", nothing)
	l = d.update(l, "one", held("x"))
	_, err := d.apply(l, "alpha", `},"spec":{"holderIdentity":"two"}`, false)
	require.Len(t, conflicts(t, err), 1)
	assert.Contains(t, conflicts(t, err)[0], `before-first-apply`)

	l = d.mustApply(l, "alpha", `},"spec":{"leaseDurationSeconds":2}`)
	assert.Equal(t, []string{
		`alpha Apply 4 {"f:spec":{"f:leaseDurationSeconds":{}}}`,
		`before-first-apply Update 4 {"f:spec":{"f:holderIdentity":{}}}`}, owners(l))
}

func TestClientSideApplyIsMigrated(t *testing.T) {
	d := open(t)
	const annotation = "kubectl.kubernetes.io/last-applied-configuration"
	l := d.create("kubectl-client-side-apply", both(held("one"), func(l *lse) {
		l.Annotations = map[string]string{annotation: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"annotations":{},"name":"a"},"spec":{"holderIdentity":"one"}}`}
	}))
	l = d.mustApply(l, "kubectl", `},"spec":{"holderIdentity":"two"}`)
	assert.Contains(t, l.Annotations[annotation], `"holderIdentity":"two"`)
	assert.Equal(t, []string{
		`kubectl Apply 2 {"f:spec":{"f:holderIdentity":{}}}`,
		`kubectl-client-side-apply Update 1 {"f:metadata":{"f:annotations":{".":{},"f:` + annotation + `":{}}}}`}, owners(l))
}

func TestMalformedConfigurations(t *testing.T) {
	d := open(t)
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"`
	for name, body := range map[string]string{
		"empty":                "",
		"a list":               "- a\n- b\n",
		"no YAML":              "{",
		"another kind":         `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
		"no kind":              `{"metadata":{"name":"a"}}`,
		"managed fields":       head + `,"managedFields":[{"manager":"x","operation":"Apply"}]}}`,
		"empty managed fields": head + `,"managedFields":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := d.manager.Apply(nil, []byte(body), media.YAML, "alpha", false, "", start)
			assert.ErrorIs(t, err, fieldmanager.ErrMalformed)
		})
	}
	for name, body := range map[string]string{
		"unknown field": head + `},"spec":{"colour":"red"}}`,
		"wrong type":    head + `},"spec":{"leaseDurationSeconds":"many"}}`,
		"bad time":      head + `},"spec":{"renewTime":"2024-01-02T03:04:05Z"}}`,
	} {
		t.Run(name+" is nobody's fault", func(t *testing.T) {
			_, _, err := d.manager.Apply(nil, []byte(body), media.YAML, "alpha", false, "Ignore", start)
			require.Error(t, err)
			assert.NotErrorIs(t, err, fieldmanager.ErrMalformed)
		})
	}
}

func TestRepeatedKeysInAConfiguration(t *testing.T) {
	d := open(t)
	body := []byte("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: a\nspec:\n  holderIdentity: one\n  holderIdentity: two\n")
	l, warnings, err := d.manager.Apply(nil, body, media.YAML, "alpha", false, "", start)
	require.NoError(t, err)
	assert.Equal(t, "two", *l.(*coordinationv1.Lease).Spec.HolderIdentity)
	assert.Len(t, warnings, 1)

	_, warnings, err = d.manager.Apply(nil, body, media.YAML, "alpha", false, "Ignore", start)
	require.NoError(t, err)
	assert.Empty(t, warnings)

	_, _, err = d.manager.Apply(nil, body, media.YAML, "alpha", false, "Strict", start)
	assert.ErrorIs(t, err, fieldmanager.ErrMalformed)
}
