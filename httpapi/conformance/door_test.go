package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
	"github.com/leasehold/leasehold/httpapi"
	"github.com/leasehold/leasehold/httpapi/auth"
)

const (
	adminToken = "admin-token"
	userToken  = "user-token"
)

// TestInProcess holds the recorded cases against a door in this process, over a cluster of one node.
func TestInProcess(t *testing.T) {
	t.Parallel()
	corpus, err := Recorded()
	require.NoError(t, err)
	Require(t, Check{Corpus: corpus, Server: openDoor(t)})
}

// TestGatedInProcess holds the cases that want feature gates, and no strangers.
func TestGatedInProcess(t *testing.T) {
	t.Parallel()
	corpus, err := Gated()
	require.NoError(t, err)
	Require(t, Check{Corpus: corpus, Server: openDoor(t, func(config *httpapi.Config) {
		config.ShardedListAndWatch, config.CBOR = true, true
		config.Authenticator = auth.New(knownTokens(t), false)
	})})
}

// openDoor opens a door over TLS, as the product does, to a cluster of one node that forgets as early as it may.
func openDoor(t *testing.T, change ...func(*httpapi.Config)) Server {
	t.Helper()
	nodes := clustertest.New(t, 1, clustertest.Options{
		Memory: true,
		Change: func(config *cluster.Config) { config.HistoryAge = cluster.MinHistoryAge },
	})
	nodes.WaitReady()
	config := httpapi.Config{Authenticator: auth.New(knownTokens(t), true)}
	for _, edit := range change {
		edit(&config)
	}
	handler, err := httpapi.New(config, nodes.Node(1))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.Config = httpapi.NewHTTPServer(handler, &tls.Config{}, nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return Server{
		URLs:      []string{server.URL},
		Token:     adminToken,
		UserToken: userToken,
		TLS:       &tls.Config{RootCAs: roots},
	}
}

func knownTokens(t *testing.T) auth.Tokens {
	t.Helper()
	tokens, err := auth.ParseTokens(strings.NewReader(adminToken + ",admin,1,system:masters\n" + userToken + ",plain-user,2\n"))
	require.NoError(t, err)
	return tokens
}
