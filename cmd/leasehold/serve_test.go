package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

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
