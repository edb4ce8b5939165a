package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestControllerRuntimeManagerLeads elects through Leasehold a manager whose own cluster is another one; here none at
// all, for electing needs nothing of it.
func TestControllerRuntimeManagerLeads(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	elsewhere := &rest.Config{Host: "https://127.0.0.1:1"}
	m, err := manager.New(elsewhere, manager.Options{
		Logger:                        testr.New(t),
		LeaderElection:                true,
		LeaderElectionConfig:          c.config(t, "cluster"),
		LeaderElectionNamespace:       "managers",
		LeaderElectionID:              "controller.example.com",
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()

	select {
	case <-m.Elected():
	case err := <-ended:
		require.FailNow(t, "the manager ended", err)
	case <-time.After(patience):
		require.FailNow(t, "the manager was not elected")
	}
	leases := c.leases(t, 2, "managers")
	lease, err := leases.Get(t.Context(), "controller.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, *lease.Spec.HolderIdentity)
	assert.EqualValues(t, 15, *lease.Spec.LeaseDurationSeconds)

	cancel()
	require.NoError(t, <-ended)
	lease, err = leases.Get(t.Context(), "controller.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Empty(t, *lease.Spec.HolderIdentity, "released")
}
