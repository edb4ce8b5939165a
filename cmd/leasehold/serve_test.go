package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnonymousRequestsAreKnownWhereThatIsWanted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.csv")
	require.NoError(t, os.WriteFile(file, []byte("token,user,1\n"), 0o600))
	for _, tokens := range []string{"", file} {
		for _, wanted := range []bool{false, true} {
			authenticator, err := newAuthenticator(Config{TokenAuthFile: tokens, AnonymousAuth: wanted})
			require.NoError(t, err)
			user, err := authenticator.Authenticate(httptest.NewRequest("GET", "/", nil))
			require.NoError(t, err)
			assert.Equal(t, wanted, user != nil)
		}
	}
}

func TestTheElectionTimeoutIsTheNodes(t *testing.T) {
	pki, err := MakePKI(t.TempDir(), []string{"node-1"}, time.Now())
	require.NoError(t, err)
	peer := pki.Nodes["node-1"].Peer
	config := Config{PeerCertFile: peer.Cert, PeerKeyFile: peer.Key, PeerCAFile: pki.PeerCA.Cert, ElectionTimeout: 1234 * time.Millisecond}
	directory, err := nodeDirectory(config, nil, hclog.NewNullLogger())
	require.NoError(t, err)
	assert.Equal(t, config.ElectionTimeout, directory.ElectionTimeout)
}
