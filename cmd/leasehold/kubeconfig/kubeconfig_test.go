package kubeconfig

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"encoding/pem"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrittenFileReadsBackAndReachesItsServer(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	data, err := Encode([]Server{{"cluster", server.URL}, {"node-1", "https://127.0.0.1:2"}}, ca, "admin", "secret")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	file, err := Read(path)
	require.NoError(t, err)
	current, err := file.Context("")
	require.NoError(t, err)
	assert.Equal(t, "cluster", current.Name)
	assert.Equal(t, server.URL, current.URL)
	assert.Equal(t, "secret", current.Token)
	require.Len(t, file.Nodes(), 1)
	assert.Equal(t, "node-1", file.Nodes()[0].Name)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: current.TLS}}
	response, err := client.Get(current.URL)
	require.NoError(t, err)
	response.Body.Close()

	_, err = file.Context("elsewhere")
	assert.ErrorContains(t, err, "elsewhere")
}

func TestFilesAreFoundBesideTheKubeconfig(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("from-file\n"), 0o600))
	path := filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(`
current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://host:1/"}}]
users: [{name: u, user: {tokenFile: token}}]
`), 0o600))
	file, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, "from-file", file.Contexts[0].Token)
	assert.Equal(t, "https://host:1", file.Contexts[0].URL)
}

func TestWhatIsNotUnderstoodIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(`
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://host:1"}}]
users: [{name: u, user: {exec: {command: gcloud}}}]
`), 0o600))
	_, err := Read(path)
	assert.ErrorContains(t, err, "context a")
}
