package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What versions left behind stands in testdata: data is a node's directory, written by a cluster of one and closed in
// order; leases.json is the list that this cluster answered last.
//
//	go test -run TestDataOfEarlierVersionsIsServed -write-version vX.Y.Z .
//
// adds one, written by the binary as it is.
var writeVersion = flag.String("write-version", "", "write testdata for this version instead of testing")

// served is what must outlive an upgrade: each Lease to the last byte, and the revision it all stood at.
type served struct {
	Metadata struct {
		Revision string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func TestDataOfEarlierVersionsIsServed(t *testing.T) {
	if *writeVersion != "" {
		writeData(t, filepath.Join("testdata", *writeVersion))
		return
	}
	versions, err := filepath.Glob("testdata/v*")
	require.NoError(t, err)
	require.NotEmpty(t, versions)
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			var left served
			text, err := os.ReadFile(filepath.Join(version, "leases.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &left))
			require.NotEmpty(t, left.Items)

			c := newCluster(t, t.TempDir(), freePorts(t))
			c.size = 1
			require.NoError(t, os.CopyFS(filepath.Join(c.dir, "node-1", "data"), os.DirFS(filepath.Join(version, "data"))))
			c.start()
			found := c.list("?resourceVersion=" + left.Metadata.Revision + "&resourceVersionMatch=Exact")
			assert.Equal(t, left.Metadata.Revision, found.Metadata.Revision)
			require.Len(t, found.Items, len(left.Items))
			for i, item := range left.Items {
				assert.JSONEq(t, string(item), string(found.Items[i]))
			}

			made := c.put("after-the-upgrade", "new")
			assert.Equal(t, left.Metadata.Revision, fmt.Sprint(made-1), "revisions go on where they were")
		})
	}
}

// writeData fills dir with what a cluster of one leaves behind: a snapshot, and a log that goes on after it.
func writeData(t *testing.T, dir string) {
	c := newCluster(t, t.TempDir(), freePorts(t))
	c.size = 1
	c.start("--snapshot-bytes", "1048576", "--trailing-bytes", "1048576")
	for round := range 4 {
		for i := range 8 {
			c.put(fmt.Sprintf("lease-%d", i), fmt.Sprintf("holder-%d", round))
		}
	}
	for round := range 11 { // more than a snapshot's worth of log
		c.put("large", strings.Repeat("x", 100_000)+fmt.Sprint(round))
	}
	code, answer, err := c.ask(c.client(), 1, http.MethodDelete, upgradePath+"/lease-3", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code, answer)
	require.Eventually(t, func() bool {
		found, err := filepath.Glob(filepath.Join(c.dir, "node-1", "data", "snapshots", "*", "state.bin"))
		return err == nil && len(found) > 0
	}, patience, 50*time.Millisecond, "no snapshot was taken")
	c.put("lease-0", "last")

	list, err := json.MarshalIndent(c.list(""), "", "  ")
	require.NoError(t, err)
	c.stop()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(c.dir, "node-1", "data"))))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "leases.json"), append(list, '\n'), 0o644))
}

const upgradePath = "/apis/coordination.k8s.io/v1/namespaces/kept/leases"

// list returns what node 1 answers, in order of name.
func (c *cluster) list(query string) served {
	c.t.Helper()
	code, answer, err := c.ask(c.client(), 1, http.MethodGet, upgradePath+query, "")
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, code, answer)
	var list served
	require.NoError(c.t, json.Unmarshal([]byte(answer), &list))
	slices.SortFunc(list.Items, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
	return list
}

// put creates a Lease or gives it another holder, and returns its new revision.
func (c *cluster) put(name, holder string) uint64 {
	c.t.Helper()
	client := c.client()
	code, present, err := c.ask(client, 1, http.MethodGet, upgradePath+"/"+name, "")
	require.NoError(c.t, err)
	version := ""
	if code == http.StatusOK {
		version = fmt.Sprintf(`,"resourceVersion":"%d"`, revisionOf(c.t, present))
	}
	code, answer, err := c.ask(client, 1, http.MethodPut, upgradePath+"/"+name, fmt.Sprintf(
		`{"metadata":{"name":%q,"labels":{"kept":"yes"}%s},"spec":{"holderIdentity":%q,"leaseDurationSeconds":15,"renewTime":"2026-12-01T00:00:00.000001Z"}}`,
		name, version, holder))
	require.NoError(c.t, err)
	require.Less(c.t, code, 300, answer)
	return revisionOf(c.t, answer)
}

func revisionOf(t *testing.T, lease string) uint64 {
	t.Helper()
	var read leaseVersion
	require.NoError(t, json.Unmarshal([]byte(lease), &read))
	var revision uint64
	_, err := fmt.Sscan(read.Metadata.Revision, &revision)
	require.NoError(t, err)
	return revision
}
