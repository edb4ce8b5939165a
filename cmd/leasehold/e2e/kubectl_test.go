package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

const heartbeat = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: heartbeat, namespace: team-a}
spec: {holderIdentity: me, leaseDurationSeconds: 40}
`

func TestOthersServeWhenAnyNodeIsKilled(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c := startCluster(t)
	leader, _ := c.leader()
	c.kill(leader)
	c.leader()
	c.kubectlInput("cluster", heartbeat, "create", "-f", "-")
	for k := 1; k <= 3; k++ {
		if k != leader {
			assert.Contains(t, c.kubectl(fmt.Sprintf("node-%d", k), "get", "leases", "-n", "team-a", "-o", "name"), "heartbeat")
		}
	}
	c.restart(leader)
	assert.Contains(t, c.kubectl(fmt.Sprintf("node-%d", leader), "get", "leases", "-n", "team-a", "-o", "name"), "heartbeat")
}
