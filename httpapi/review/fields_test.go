package review

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/randfill"
)

// What is noted of a question is what the library notes that kube-apiserver uses, by the schema that is served.
func TestManagedFieldsAreTheLibrarys(t *testing.T) {
	text, err := os.ReadFile("../discovery/openapi/v3/apis/authorization.k8s.io/v1.json")
	require.NoError(t, err)
	var described spec3.OpenAPI
	require.NoError(t, json.Unmarshal(text, &described))
	types, err := managedfields.NewTypeConverter(described.Components.Schemas, false)
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, authorizationv1.AddToScheme(scheme))
	library, err := managedfields.NewDefaultFieldManager(types, scheme, scheme, scheme, Access.GroupVersionKind, Access.GroupVersion(), "", nil)
	require.NoError(t, err)

	now := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	fill := randfill.NewWithSeed(3).NilChance(0.4).NumElements(0, 2).Funcs(
		func(m *metav1.ObjectMeta, _ randfill.Continue) {},
		func(m *metav1.TypeMeta, _ randfill.Continue) {},
		func(s *string, c randfill.Continue) { *s = []string{"", "x"}[c.Intn(2)] },
	)
	tracked := 0
	for range 500 {
		question := &authorizationv1.SelfSubjectAccessReview{}
		fill.Fill(question)
		question.TypeMeta = metav1.TypeMeta{}
		got, err := ManagedFields(question, "me", now)
		require.NoError(t, err)

		live := &authorizationv1.SelfSubjectAccessReview{}
		live.SetGroupVersionKind(Access.GroupVersionKind)
		sent := question.DeepCopy()
		sent.SetGroupVersionKind(Access.GroupVersionKind)
		noted, err := library.Update(live, sent, "me")
		require.NoError(t, err)
		want := noted.(*authorizationv1.SelfSubjectAccessReview).ManagedFields
		for i := range want {
			want[i].Time = &metav1.Time{Time: now.Truncate(time.Second)}
		}
		tracked += len(want)
		wanted, err := json.Marshal(want)
		require.NoError(t, err)
		made, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(wanted), string(made), "%v", question)
	}
	assert.Greater(t, tracked, 100)
}
