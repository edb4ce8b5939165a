package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// partitionable is a cluster whose nodes were started one by one with leasehold serve, and reach each other through
// relays: one for each pair, since a relay cannot see who calls.
type partitionable struct {
	*cluster
	links map[[2]int]*relay // from, to
}

// startPartitionable lets dev make certificates and tokens and form the cluster, and then runs its nodes without it.
func startPartitionable(t *testing.T) *partitionable {
	t.Helper()
	c := startCluster(t)
	c.stop()
	p := &partitionable{c, map[[2]int]*relay{}}
	for from := 1; from <= 3; from++ {
		for _, to := range others(from) {
			p.links[[2]int{from, to}] = startRelay(t, p.peer(to))
		}
	}
	for k := 1; k <= 3; k++ {
		p.serve(k)
	}
	for k := 1; k <= 3; k++ {
		client := p.client()
		require.Eventually(t, func() bool {
			code, _, err := p.ask(client, k, http.MethodGet, "/readyz", "")
			return err == nil && code == http.StatusOK
		}, patience, 50*time.Millisecond)
	}
	return p
}

func (p *partitionable) peer(k int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port+100+k-1))
}

// serve runs node k until the end of the test.
func (p *partitionable) serve(k int) {
	p.t.Helper()
	members := []string{nodeName(k) + "=" + p.peer(k)}
	for _, other := range others(k) {
		members = append(members, nodeName(other)+"="+p.links[[2]int{k, other}].address())
	}
	log, err := os.OpenFile(p.path(nodeName(k), "log"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(p.t, err)
	defer log.Close()
	node := exec.Command(leasehold, "serve",
		"--id", nodeName(k),
		"--data-dir", p.path(nodeName(k), "data"),
		"--listen", fmt.Sprintf("127.0.0.1:%d", p.port+k-1),
		"--tls-cert-file", p.path(nodeName(k), "server.crt"),
		"--tls-private-key-file", p.path(nodeName(k), "server.key"),
		"--token-auth-file", p.path("tokens.csv"),
		"--peer-listen", p.peer(k),
		"--peer-cert-file", p.path(nodeName(k), "peer.crt"),
		"--peer-key-file", p.path(nodeName(k), "peer.key"),
		"--peer-ca-file", p.path("peer-ca.crt"),
		"--initial-cluster", strings.Join(members, ","))
	node.Stdout, node.Stderr = log, log
	require.NoError(p.t, node.Start())
	p.t.Cleanup(func() {
		_ = node.Process.Signal(syscall.SIGTERM) // fails when it has ended
		killer := time.AfterFunc(patience, func() { _ = node.Process.Kill() })
		defer killer.Stop()
		_ = node.Wait() // its log tells
	})
}

// cut parts node k from the others; heal brings it back.
func (p *partitionable) cut(k int) { p.each(k, (*relay).cut) }

func (p *partitionable) heal(k int) { p.each(k, (*relay).heal) }

func (p *partitionable) each(k int, do func(*relay)) {
	for _, other := range others(k) {
		do(p.links[[2]int{k, other}])
		do(p.links[[2]int{other, k}])
	}
}
