package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases"

// client is an HTTP client that trusts the cluster.
func (c *cluster) client() *http.Client {
	c.t.Helper()
	pool := x509.NewCertPool()
	require.True(c.t, pool.AppendCertsFromPEM([]byte(c.file("ca.crt"))))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	c.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// ask sends one request to node k as the administrator.
func (c *cluster) ask(client *http.Client, k int, method, path, body string) (code int, answer string, err error) {
	url := fmt.Sprintf("https://127.0.0.1:%d%s", c.port+k-1, path)
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+c.file("admin.token"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

func TestNodeThatIsCutOffNeverAnswersWithOldState(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	client := c.client()
	code, body, err := c.ask(client, 1, http.MethodPost, leasesPath, `{"metadata":{"name":"one"}}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, code, body)
	require.Eventually(t, func() bool {
		code, _, err := c.ask(client, 3, http.MethodGet, leasesPath+"/one?resourceVersion=0", "")
		return err == nil && code == http.StatusOK
	}, patience, 50*time.Millisecond)

	watchEnded := make(chan error, 1)
	go func() {
		_, _, err := c.ask(client, 3, http.MethodGet, leasesPath+"?watch=true", "")
		watchEnded <- err
	}()
	c.pause(1)
	defer c.resume(1)
	c.pause(2)
	defer c.resume(2)

	code, body, err = c.ask(client, 3, http.MethodGet, leasesPath+"/one", "")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, code, 500, "a default read without a quorum: %s", body)
	require.Eventually(t, func() bool {
		code, body, err = c.ask(client, 3, http.MethodGet, "/readyz", "")
		return err == nil && code >= 500
	}, patience, 50*time.Millisecond)
	assert.Contains(t, body, "quorum")
	code, body, err = c.ask(client, 3, http.MethodGet, leasesPath+"/one?resourceVersion=0", "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, code, "a read that takes what there is: %s", body)
	select {
	case err := <-watchEnded:
		assert.NoError(t, err, "a watch ends as at its timeout")
	case <-time.After(patience):
		assert.Fail(t, "the watch goes on")
	}
}
