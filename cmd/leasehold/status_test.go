package main

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

func TestStatusTellsOfEachNodeAndOfOneThatIsDown(t *testing.T) {
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != statusPath || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "wrong question", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(nodeStatus{cluster.Status{
			ID: "node-1", Role: "leader", Term: 3, Revision: 1234, AppliedIndex: 77, Ready: true,
		}, "https://advertised:1", "v0"})
	}))
	defer up.Close()
	down := httptest.NewTLSServer(http.NotFoundHandler())
	down.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw})
	servers := []kubeconfig.Server{{Name: "cluster", URL: down.URL}, {Name: "node-1", URL: up.URL}, {Name: "node-2", URL: down.URL}}
	data, err := kubeconfig.Encode(servers, ca, "admin", "secret")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	status := func(args ...string) (string, error) {
		var out strings.Builder
		root := rootCommand()
		root.SetOut(&out)
		root.SetArgs(append([]string{"status", "--kubeconfig", path}, args...))
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := status("-o", "json")
	require.NoError(t, err)
	var nodes []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &nodes))
	require.Len(t, nodes, 2)
	for field, want := range map[string]any{
		"id": "node-1", "url": "https://advertised:1", "role": "leader", "term": 3.0, "revision": 1234.0, "appliedIndex": 77.0, "ready": true,
	} {
		assert.Equal(t, want, nodes[0][field], field)
	}
	assert.Equal(t, "node-2", nodes[1]["id"])
	assert.Equal(t, false, nodes[1]["ready"])
	assert.NotEmpty(t, nodes[1]["error"])

	_, err = status("-o", "xml")
	assert.ErrorContains(t, err, "--output")
	up.Close()
	_, err = status()
	assert.ErrorContains(t, err, "no node answered")
}
