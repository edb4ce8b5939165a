package e2e

import "testing"

// TestClientsOfABusyNode lets scripts take the one place that a node has.
func TestClientsOfABusyNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--max-in-flight", "1")
	t.Run("python", func(t *testing.T) { pythonScript(t, "main.py").check(t, c, 2, "busy") })
	for client := range javaScripts {
		t.Run(client, func(t *testing.T) { javaScript(t, client).check(t, c, 1, "busy") })
	}
}

// TestClientsOfLenientNodes lets scripts send times as their languages write them.
func TestClientsOfLenientNodes(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--lenient-microtime")
	t.Run("python", func(t *testing.T) { pythonScript(t, "main.py").check(t, c, 5, "lenient") })
	for client := range javaScripts {
		t.Run(client, func(t *testing.T) { javaScript(t, client).check(t, c, 5, "lenient") })
	}
}
