package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
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
	c.signal(1, syscall.SIGSTOP)
	c.signal(2, syscall.SIGSTOP)
	defer func() {
		c.signal(1, syscall.SIGCONT)
		c.signal(2, syscall.SIGCONT)
	}()

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

func TestNothingAcknowledgedIsLostWhenAllAreKilledAtOnce(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("LEASEHOLD_E2E_NIGHTLY") != "" {
		rounds = 20
	}
	c := startCluster(t)
	client := c.client()
	acknowledged := map[string]bool{}
	for round := range rounds {
		c.createUntilAllAreKilled(client, round, acknowledged)
		for k := 1; k <= 3; k++ {
			c.restart(k) // one after the other: the first cannot serve yet, and says so
		}
		for k := 1; k <= 3; k++ {
			found := c.names(client, k)
			for name := range acknowledged {
				require.True(t, found[name], "%s was acknowledged, and node-%d does not have it", name, k)
			}
		}
		c.assertEqual()
	}
	t.Logf("%d acknowledged changes", len(acknowledged))
}

// createUntilAllAreKilled creates Leases through every node, kills all nodes amid that, and notes what was acknowledged.
func (c *cluster) createUntilAllAreKilled(client *http.Client, round int, acknowledged map[string]bool) {
	c.t.Helper()
	var (
		writers sync.WaitGroup
		mu      sync.Mutex // guards acknowledged
		stop    = make(chan struct{})
	)
	enough := len(acknowledged) + 200
	for k := 1; k <= 3; k++ {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("r%d-w%d-%d", round, k, i)
				code, _, err := c.ask(client, k, http.MethodPost, leasesPath, `{"metadata":{"name":"`+name+`"}}`)
				if err != nil {
					return // the node is dead
				}
				if code == http.StatusCreated {
					mu.Lock()
					acknowledged[name] = true
					mu.Unlock()
				}
			}
		})
	}
	require.Eventually(c.t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged) > enough
	}, patience, time.Millisecond)
	pids := []int{c.pid(1), c.pid(2), c.pid(3)}
	for _, pid := range pids {
		require.NoError(c.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	close(stop)
	writers.Wait()
	for _, pid := range pids {
		require.Eventually(c.t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, patience, time.Millisecond)
	}
}

// names lists the Leases that node k has.
func (c *cluster) names(client *http.Client, k int) map[string]bool {
	c.t.Helper()
	code, body, err := c.ask(client, k, http.MethodGet, leasesPath, "")
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, code, body)
	var list struct {
		Items []struct {
			Metadata struct{ Name string } `json:"metadata"`
		} `json:"items"`
	}
	require.NoError(c.t, json.Unmarshal([]byte(body), &list))
	found := map[string]bool{}
	for _, item := range list.Items {
		found[item.Metadata.Name] = true
	}
	return found
}
