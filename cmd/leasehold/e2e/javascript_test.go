package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// javaScripts are the versions of the JavaScript client, by the names that package.json gives them, and what each runs on.
var javaScripts = map[string]struct {
	node   string
	checks int
}{
	"client-node-1": {"node", 58},
	"client-node-2": {filepath.Join("javascript", "node_modules", ".bin", "node"), 59},
}

func TestJavaScriptClient(t *testing.T) {
	t.Parallel()
	for client, version := range javaScripts {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			s := javaScript(t, client)
			c := startCluster(t, "--history-bytes", "1048576")
			s.check(t, c, version.checks, "verbs", "patches", "times", "pages", "watches", "connections", "informers", "candidates")
		})
	}
}

// javaScript is the checks of one version of the client.
func javaScript(t *testing.T, client string) script {
	t.Helper()
	node, err := exec.LookPath(javaScripts[client].node)
	if err != nil {
		lackClient(t, "no Node.js for "+client)
	}
	if _, err := os.Stat(filepath.Join("javascript", "node_modules", client)); err != nil {
		lackClient(t, client+" is not in javascript/node_modules")
	}
	version, err := exec.Command(node, "--version").Output()
	require.NoError(t, err)
	t.Logf("%s on Node.js %s", client, bytes.TrimSpace(version))
	return script{
		command: []string{node, filepath.Join("javascript", "main.js")},
		env:     []string{"LEASEHOLD_CLIENT=" + client},
	}
}
