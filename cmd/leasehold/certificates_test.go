package main

import (
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChangedCertificateIsServedAndABrokenOneIsNot(t *testing.T) {
	dir := t.TempDir()
	pki, err := MakePKI(dir, []string{"n1"}, time.Now())
	require.NoError(t, err)
	files := pki.Nodes["n1"].Server
	c, err := openCertificates(files.Cert, files.Key, hclog.NewNullLogger())
	require.NoError(t, err)
	first, err := c.forHandshake(nil)
	require.NoError(t, err)

	lookAgain := func(at time.Time) {
		require.NoError(t, os.Chtimes(files.Cert, at, at))
		c.looked = time.Time{}
	}
	require.NoError(t, os.WriteFile(files.Cert, []byte("half a certif"), 0o600))
	lookAgain(time.Now().Add(time.Hour))
	kept, err := c.forHandshake(nil)
	require.NoError(t, err)
	assert.Same(t, first, kept)

	other, err := MakePKI(t.TempDir(), []string{"n1"}, time.Now())
	require.NoError(t, err)
	for from, to := range map[string]string{other.Nodes["n1"].Server.Cert: files.Cert, other.Nodes["n1"].Server.Key: files.Key} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, data, 0o600))
	}
	lookAgain(time.Now().Add(2 * time.Hour))
	changed, err := c.forHandshake(nil)
	require.NoError(t, err)
	assert.NotEqual(t, first.Certificate[0], changed.Certificate[0])
}
