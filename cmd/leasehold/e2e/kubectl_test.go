package e2e

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const heartbeat = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: heartbeat, namespace: team-a}
spec: {holderIdentity: me, leaseDurationSeconds: 40}
`

func TestKubectlThroughEveryDoor(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c := startCluster(t)
	leader, follower := c.leader()
	for _, context := range []string{fmt.Sprintf("node-%d", follower), fmt.Sprintf("node-%d", leader), "cluster"} {
		t.Run(context, func(t *testing.T) {
			watch := c.kubectlCommand(context, "get", "leases", "-n", "team-a", "-w", "--output-watch-events")
			out, err := watch.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, watch.Start())
			events := bufio.NewScanner(out)
			next := func() string {
				require.True(t, events.Scan(), "the watch ended")
				return strings.Join(strings.Fields(events.Text()), " ")
			}

			assert.Contains(t, c.kubectlInput(context, heartbeat, "create", "-f", "-"), "lease.coordination.k8s.io/heartbeat created")
			assert.Equal(t, "EVENT NAME HOLDER AGE", next())
			assert.Regexp(t, `^ADDED heartbeat me \d+s$`, next())

			table := c.kubectl(context, "get", "leases", "-n", "team-a")
			assert.Regexp(t, `(?s)NAME +HOLDER +AGE\nheartbeat +me +\d+s`, table)
			assert.Contains(t, c.kubectl(context, "get", "lease", "heartbeat", "-n", "team-a", "-o", "yaml"), "holderIdentity: me")

			assert.Contains(t, c.kubectl(context, "delete", "lease", "heartbeat", "-n", "team-a"), "deleted")
			assert.Regexp(t, `^DELETED heartbeat me \d+s$`, next())
			require.NoError(t, watch.Process.Kill())
			_ = watch.Wait() // killed, as it should be
		})
	}
}

func TestDataOutlivesARestartOfAllAndOtherClustersAreUntouched(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	c, other := startCluster(t), startCluster(t)
	c.kubectlInput("cluster", heartbeat, "create", "-f", "-")
	uid := func() string {
		return c.kubectl("cluster", "get", "lease", "heartbeat", "-n", "team-a", "-o", "jsonpath={.metadata.uid}")
	}
	before := uid()
	c.stop()
	c.start()
	assert.Equal(t, before, uid())
	assert.Contains(t, other.kubectl("cluster", "get", "leases", "-A"), "No resources found")
}

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
