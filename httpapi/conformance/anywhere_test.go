package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnywhere holds the cases with the server that the environment names.
func TestAnywhere(t *testing.T) {
	urls := os.Getenv("LEASEHOLD_CONFORMANCE_URLS")
	if urls == "" {
		t.Skip("LEASEHOLD_CONFORMANCE_URLS names no server")
	}
	t.Parallel()
	open := Recorded
	if os.Getenv("LEASEHOLD_CONFORMANCE_GATED") != "" {
		open = Gated
	}
	corpus, err := open()
	require.NoError(t, err)
	if os.Getenv("LEASEHOLD_CONFORMANCE_EXCEPTIONS") == "" {
		corpus.Exceptions = nil
	}
	Require(t, Check{Corpus: corpus, Server: Server{
		URLs:      strings.Split(urls, ","),
		Token:     os.Getenv("LEASEHOLD_CONFORMANCE_TOKEN"),
		UserToken: os.Getenv("LEASEHOLD_CONFORMANCE_USER_TOKEN"),
		TLS:       trusting(t, os.Getenv("LEASEHOLD_CONFORMANCE_CA")),
	}})
}

// trusting trusts the certificates in a file, or any if there is none.
func trusting(t *testing.T, file string) *tls.Config {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text), "%s holds no certificates", file)
	return &tls.Config{RootCAs: roots}
}
