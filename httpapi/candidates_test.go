package httpapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	alphaclient "k8s.io/client-go/kubernetes/typed/coordination/v1alpha2"
	betaclient "k8s.io/client-go/kubernetes/typed/coordination/v1beta1"

	"github.com/leasehold/leasehold/httpapi/media"
)

const (
	betasPath  = "/apis/coordination.k8s.io/v1beta1/namespaces/ns/leasecandidates"
	alphasPath = "/apis/coordination.k8s.io/v1alpha2/namespaces/ns/leasecandidates"
	candidateA = `{"metadata":{"name":"a"},"spec":{"leaseName":"lock","binaryVersion":"1.33.0","strategy":"example.com/x"}}`
)

func TestClientsOfBothVersionsShareTheirCandidates(t *testing.T) {
	for _, encoding := range []string{asJSON, asProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			d := openDoor(t)
			beta, err := betaclient.NewForConfig(d.clientConfig(encoding))
			require.NoError(t, err)
			alpha, err := alphaclient.NewForConfig(d.clientConfig(encoding))
			require.NoError(t, err)
			betas, alphas, ctx := beta.LeaseCandidates("ns"), alpha.LeaseCandidates("ns"), t.Context()
			seenBeta, err := betas.Watch(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			defer seenBeta.Stop()
			seenAlpha, err := alphas.Watch(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			defer seenAlpha.Stop()

			made, err := betas.Create(ctx, &coordinationv1beta1.LeaseCandidate{
				ObjectMeta: metav1.ObjectMeta{Name: "a"},
				Spec: coordinationv1beta1.LeaseCandidateSpec{
					LeaseName: "lock", BinaryVersion: "1.33.0", EmulationVersion: "1.32.0", Strategy: coordinationv1.OldestEmulationVersion,
				},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			read, err := alphas.Get(ctx, "a", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, coordinationv1alpha2.LeaseCandidateSpec(made.Spec), read.Spec)
			assert.Equal(t, made.ObjectMeta, read.ObjectMeta)

			read.Spec.BinaryVersion = "1.34.0"
			_, err = alphas.Update(ctx, read, metav1.UpdateOptions{})
			require.NoError(t, err)
			list, err := betas.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, list.Items, 1)
			assert.Equal(t, "1.34.0", list.Items[0].Spec.BinaryVersion)
			require.NoError(t, betas.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))

			for _, kind := range []apiwatch.EventType{apiwatch.Added, apiwatch.Modified, apiwatch.Deleted} {
				event := received(t, seenBeta)
				assert.Equal(t, kind, event.Type)
				one := event.Object.(*coordinationv1beta1.LeaseCandidate)
				event = received(t, seenAlpha)
				assert.Equal(t, kind, event.Type)
				other := event.Object.(*coordinationv1alpha2.LeaseCandidate)
				assert.Equal(t, one.ObjectMeta, other.ObjectMeta)
				assert.Equal(t, coordinationv1alpha2.LeaseCandidateSpec(one.Spec), other.Spec)
			}
		})
	}
}

func TestWatchesOfCandidates(t *testing.T) {
	d := openDoor(t)
	lease := d.do(t, "POST", leasesPath, `{"metadata":{"name":"a"}}`)
	require.Equal(t, 201, lease.StatusCode, lease.body)
	made := d.do(t, "POST", betasPath, candidateA)
	require.Equal(t, 201, made.StatusCode, made.body)

	whole := d.follow(t, alphasPath+"?watch=true")
	assert.Equal(t, []string{`299 - "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+"`}, whole.body.Header["Warning"])
	assert.Contains(t, string(whole.next().Object), `"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1alpha2"`)

	table := d.follow(t, alphasPath+"?watch=true&includeObject=Object", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	row := string(table.next().Object)
	assert.Contains(t, row, `"name":"EmulationVersion"`)
	assert.Contains(t, row, `"cells":["a","lock","1.33.0","",`)
	assert.Contains(t, row, `"apiVersion":"coordination.k8s.io/v1alpha2"`)

	partial := d.follow(t, strings.Replace(betasPath, "/v1beta1/", "/v1beta1/watch/", 1)+"/a", "Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	assert.Equal(t, "PartialObjectMetadata", partial.next().meta.Kind)

	marked := d.follow(t, alphasPath+"?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
	assert.Equal(t, media.EventAdded, marked.next().Type)
	bookmark := marked.next()
	assert.Equal(t, media.EventBookmark, bookmark.Type)
	assert.Contains(t, string(bookmark.Object), `"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1alpha2"`)
	assert.Contains(t, string(bookmark.Object), `"spec":{"leaseName":"","binaryVersion":""}`)

	gone := d.do(t, "DELETE", betasPath+"/a", "")
	require.Equal(t, 200, gone.StatusCode)
	for _, f := range []*follower{whole, partial} {
		assert.Equal(t, media.EventDeleted, f.next().Type)
	}
}
