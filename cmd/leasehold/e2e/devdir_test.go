package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// TestDevWritesWhatClientsNeed uses the files themselves: the CA alone is trusted, each token gets what it should.
func TestDevWritesWhatClientsNeed(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(c.file("ca.crt"))))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: patience}

	file, err := clientcmd.LoadFromFile(c.path("kubeconfig"))
	require.NoError(t, err)
	assert.Equal(t, "cluster", file.CurrentContext)
	for context, offset := range map[string]int{"node-1": 0, "node-2": 1, "node-3": 2, "cluster": 50} {
		url := "https://127.0.0.1:" + strconv.Itoa(c.port+offset)
		require.Contains(t, file.Contexts, context)
		assert.Equal(t, url, file.Clusters[file.Contexts[context].Cluster].Server)
		for _, one := range []struct {
			token, path string
			want        int
		}{
			{c.file("admin.token"), "/apis/coordination.k8s.io/v1/leases", http.StatusOK},
			{c.file("user.token"), "/apis/coordination.k8s.io/v1/leases", http.StatusForbidden},
			{c.file("user.token"), "/apis", http.StatusOK},
			{"guessed", "/apis", http.StatusUnauthorized},
			{"", "/apis", http.StatusUnauthorized},
			{"", "/readyz", http.StatusOK},
			{"", "/version", http.StatusOK},
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+one.path, nil)
			require.NoError(t, err)
			if one.token != "" {
				request.Header.Set("Authorization", "Bearer "+one.token)
			}
			response, err := client.Do(request)
			require.NoError(t, err)
			response.Body.Close()
			assert.Equal(t, one.want, response.StatusCode, "%s of %s with token %q", one.path, context, one.token)
			assert.Equal(t, 2, response.ProtoMajor)
		}
	}
}

// TestDevComesBackAsItWas restarts all nodes and asks with what clients kept from before.
func TestDevComesBackAsItWas(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	ctx := t.Context()
	before, err := c.leases(t, 1, "kept").Create(ctx, newLease("one", "me"), metav1.CreateOptions{})
	require.NoError(t, err)
	config := c.config(t, "node-3")
	c.stop()
	c.start()

	leases := clientset(t, config).CoordinationV1().Leases("kept")
	list, err := leases.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, *before, list.Items[0])
	assert.Equal(t, before.ResourceVersion, list.ResourceVersion, "a restart is no change")
	next, err := leases.Create(ctx, newLease("two", "me"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, revision(t, before)+1, revision(t, next))
}

// TestTwoDevClustersLiveSideBySide also restarts one of them, which the other does not notice.
func TestTwoDevClustersLiveSideBySide(t *testing.T) {
	t.Parallel()
	one, other := startCluster(t), startCluster(t)
	ctx := t.Context()
	_, err := one.leases(t, 1, "shared").Create(ctx, newLease("same", "one"), metav1.CreateOptions{})
	require.NoError(t, err)
	kept, err := other.leases(t, 1, "shared").Create(ctx, newLease("same", "other"), metav1.CreateOptions{})
	require.NoError(t, err)
	pids := []int{other.pid(1), other.pid(2), other.pid(3)}

	one.stop()
	one.start()
	found, err := other.leases(t, 2, "shared").Get(ctx, "same", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, kept, found)
	assert.Equal(t, pids, []int{other.pid(1), other.pid(2), other.pid(3)})
	found, err = one.leases(t, 2, "shared").Get(ctx, "same", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "one", *found.Spec.HolderIdentity)

	stranger := one.config(t, "node-1")
	stranger.Host = other.config(t, "node-1").Host
	_, err = clientset(t, stranger).CoordinationV1().Leases("shared").List(ctx, metav1.ListOptions{})
	require.ErrorContains(t, err, "certificate signed by unknown authority")
	stranger.CAData = other.config(t, "node-1").CAData
	_, err = clientset(t, stranger).CoordinationV1().Leases("shared").List(ctx, metav1.ListOptions{})
	assert.True(t, errors.IsUnauthorized(err), "%v", err)
}

// TestDevRunsAsManyNodesAsAsked also has the directory remember how many they were.
func TestDevRunsAsManyNodesAsAsked(t *testing.T) {
	t.Parallel()
	c := newCluster(t, t.TempDir(), freePorts(t))
	c.size = 5
	c.start()
	status := c.status()
	require.Len(t, status, 5)
	for k, n := range status {
		assert.Equal(t, fmt.Sprintf("node-%d", k+1), n.ID)
		assert.True(t, n.Ready)
	}
	c.stop()
	out, err := exec.Command(leasehold, "dev", "--dir", c.dir, "--base-port", strconv.Itoa(c.port)).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "was made for 5 nodes, not for 3")
}

func revision(t *testing.T, lease *coordinationv1.Lease) int {
	t.Helper()
	revision, err := strconv.Atoi(lease.ResourceVersion)
	require.NoError(t, err)
	return revision
}
