package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

func TestDevPortsAreWhereScriptsExpectThem(t *testing.T) {
	l := devLayout{Dir: "d", BasePort: 20000, Nodes: 3}
	require.NoError(t, l.Validate())
	assert.Equal(t, "127.0.0.1:20000", l.api(1))
	assert.Equal(t, "127.0.0.1:20002", l.api(3))
	assert.Equal(t, "127.0.0.1:20050", l.balancer())
	assert.Equal(t, "127.0.0.1:20100", l.peer(1))
	assert.Equal(t, "127.0.0.1:20102", l.peer(3))
}

func TestDevLayoutRefusesPortsThatCannotBe(t *testing.T) {
	for _, l := range []devLayout{
		{Dir: "d", BasePort: 20000, Nodes: 0},
		{Dir: "d", BasePort: 20000, Nodes: 51}, // the last node would sit on the balancer's port
		{Dir: "d", BasePort: 0, Nodes: 3},
		{Dir: "d", BasePort: 65434, Nodes: 3}, // the last peer port would be 65536
		{Dir: "", BasePort: 20000, Nodes: 3},
	} {
		assert.Error(t, l.Validate(), "%+v", l)
	}
	assert.NoError(t, devLayout{Dir: "d", BasePort: 65433, Nodes: 3}.Validate())
	assert.NoError(t, devLayout{Dir: "d", BasePort: 20000, Nodes: 50}.Validate())
}

func TestDevTellsWhichPortIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)

	err = devLayout{Dir: "d", BasePort: number - balancerOffset, Nodes: 1}.checkPorts()
	assert.ErrorContains(t, err, listener.Addr().String()+", for the balancer")
	assert.ErrorContains(t, err, "--base-port")
}

func TestDevKeepsKeysAndTokensBetweenRuns(t *testing.T) {
	l := devLayout{Dir: t.TempDir(), BasePort: 20000, Nodes: 3}
	_, err := l.prepare(time.Now())
	require.NoError(t, err)
	before := map[string]string{}
	for _, name := range []string{"ca.crt", "admin.token", "user.token", "tokens.csv", "kubeconfig"} {
		data, err := os.ReadFile(l.path(name))
		require.NoError(t, err)
		before[name] = string(data)
	}
	assert.Contains(t, before["tokens.csv"], strings.TrimSpace(before["admin.token"])+",admin,admin,system:masters\n")
	assert.Contains(t, before["tokens.csv"], strings.TrimSpace(before["user.token"])+",plain-user,user\n")

	_, err = l.prepare(time.Now())
	require.NoError(t, err)
	for name, was := range before {
		data, err := os.ReadFile(l.path(name))
		require.NoError(t, err)
		assert.Equal(t, was, string(data), name)
	}

	l.Nodes = 5
	_, err = l.prepare(time.Now())
	assert.ErrorContains(t, err, "was made for 3 nodes")
}

func TestDevKubeconfigHasTheBalancerFirstAndEachNode(t *testing.T) {
	l := devLayout{Dir: t.TempDir(), BasePort: 20000, Nodes: 2}
	_, err := l.prepare(time.Now())
	require.NoError(t, err)
	file, err := kubeconfig.Read(l.path("kubeconfig"))
	require.NoError(t, err)
	assert.Equal(t, "cluster", file.Current)
	urls := map[string]string{}
	for _, context := range file.Contexts {
		urls[context.Name] = context.URL
	}
	assert.Equal(t, map[string]string{
		"cluster": "https://127.0.0.1:20050", "node-1": "https://127.0.0.1:20000", "node-2": "https://127.0.0.1:20001",
	}, urls)
}

func TestDirectoryIsLockedForOneDev(t *testing.T) {
	path := t.TempDir() + "/lock"
	unlock, err := lockDir(path)
	require.NoError(t, err)
	_, err = lockDir(path)
	require.Error(t, err)
	unlock()
	unlock, err = lockDir(path)
	require.NoError(t, err)
	unlock()
}
