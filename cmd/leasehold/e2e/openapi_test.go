package e2e

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpenAPIIsTheSameAtEveryNode fetches the schema's root at least a thousand times over three nodes, of which one
// after the other restarts meanwhile, and each time one of the documents that it names. Clients keep documents by the
// hash in their URLs, so that must be the same at every node, and of what is there.
func TestOpenAPIIsTheSameAtEveryNode(t *testing.T) {
	t.Parallel()
	const fetches = 1000
	c := startCluster(t)
	client := c.client()
	code, root, err := c.ask(client, 1, http.MethodGet, "/openapi/v3", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code)
	documents := openAPIDocuments(t, root)

	restarted := make(chan error, 1)
	go func() {
		for k := 1; k <= 3; k++ {
			if err := c.tryRestart(k); err != nil {
				restarted <- err
				return
			}
		}
		restarted <- nil
	}()
	fetched := map[int]int{} // by node
	away := 0
	for i, done := 0, false; !done || fetched[1]+fetched[2]+fetched[3] < fetches; i++ {
		select {
		case err := <-restarted:
			require.NoError(t, err)
			done = true
		default:
		}
		k := 1 + i%3
		code, body, err := c.ask(client, k, http.MethodGet, "/openapi/v3", "")
		if err != nil || code == http.StatusServiceUnavailable {
			away++
			continue
		}
		require.Equal(t, http.StatusOK, code, body)
		require.Equal(t, root, body, "node %d", k)
		document := documents[i/3%len(documents)]
		code, body, err = c.ask(client, k, http.MethodGet, document, "")
		if err != nil || code == http.StatusServiceUnavailable {
			away++
			continue
		}
		require.Equal(t, http.StatusOK, code, body)
		address, err := url.Parse(document)
		require.NoError(t, err)
		require.Equal(t, address.Query().Get("hash"), fmt.Sprintf("%X", sha512.Sum512([]byte(body))), "%s of node %d", address.Path, k)
		fetched[k]++
	}
	assert.Len(t, fetched, 3)
	t.Logf("fetched by node: %v; %d times there was no node", fetched, away)
}

// openAPIDocuments returns the URLs that the root of OpenAPI v3 names.
func openAPIDocuments(t *testing.T, root string) []string {
	t.Helper()
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(root), &index))
	require.Contains(t, index.Paths, "apis/coordination.k8s.io/v1")
	var urls []string
	for _, document := range index.Paths {
		urls = append(urls, document.ServerRelativeURL)
	}
	slices.Sort(urls)
	return urls
}
