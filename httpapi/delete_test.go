package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
)

// The last that watchers see is what the client is answered: the object with the finalizer of its policy, in one event.
func TestADeleteUnderAPolicyIsOneEvent(t *testing.T) {
	d := openDoor(t)
	d.store.change(t, fsm.OpCreate, "ns", "a", map[string]string{"k": "v"})
	revision := version(d.store.State().Revision())
	all := d.follow(t, leasesPath+"?watch=true&resourceVersion="+revision)
	selected := d.follow(t, leasesPath+"?watch=true&labelSelector=k%3Dv&resourceVersion="+revision)
	answer := d.do(t, "DELETE", leasesPath+"/a?propagationPolicy=Foreground", "")
	require.Equal(t, 200, answer.StatusCode, answer.body)
	d.store.change(t, fsm.OpCreate, "ns", "b", map[string]string{"k": "v"})
	for _, f := range []*follower{all, selected} {
		gone := f.next()
		assert.Equal(t, "DELETED", gone.Type)
		assert.JSONEq(t, answer.body, string(gone.Object))
		assert.Equal(t, []string{"foregroundDeletion"}, gone.meta.Finalizers)
		assert.NotNil(t, gone.meta.DeletionTimestamp)
		assert.Equal(t, "b", f.next().meta.Name)
	}
}

// Earlier versions of this program left objects waiting for a garbage collector.
func TestWhatWaitsForAGarbageCollectorGoesWithTheNextWrite(t *testing.T) {
	for name, finish := range map[string]func(d *door) answer{
		"delete": func(d *door) answer { return d.do(t, "DELETE", leasesPath+"/a", "") },
		"patch": func(d *door) answer {
			return d.do(t, "PATCH", leasesPath+"/a", `{"spec":{"holderIdentity":"x"}}`, "Content-Type", "application/merge-patch+json")
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t)
			marked := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", UID: "uid", Finalizers: []string{"orphan"},
				DeletionTimestamp: &metav1.Time{Time: metav1.Unix(1700000000, 0).Time}, DeletionGracePeriodSeconds: new(int64),
			}}
			data, err := marked.Marshal()
			require.NoError(t, err)
			_, err = d.store.Propose(t.Context(), fsm.Command{Op: fsm.OpCreate, Key: ofLeases.key("ns", "a"), UID: "uid", Object: data})
			require.NoError(t, err)

			got := finish(d)
			assert.Equal(t, 200, got.StatusCode, got.body)
			assert.Contains(t, got.body, `"finalizers":["orphan"]`)
			assert.Equal(t, 404, d.do(t, "GET", leasesPath+"/a", "").StatusCode)
		})
	}
}
