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
