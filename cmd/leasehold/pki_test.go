package main

import (
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeersAndClientsOfMakePKITrustTheRightSide(t *testing.T) {
	pki, err := MakePKI(t.TempDir(), []string{"node-1", "node-2"}, time.Now())
	require.NoError(t, err)

	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		peer := handshake(t, pki.Nodes["node-1"].Server, pki.CA.Cert, pki.Admin, pki.CA.Cert, name)
		assert.Equal(t, "admin", peer.Subject.CommonName)
		assert.Equal(t, []string{"system:masters"}, peer.Subject.Organization)
	}
	peer := handshake(t, pki.Nodes["node-1"].Peer, pki.PeerCA.Cert, pki.Nodes["node-2"].Peer, pki.PeerCA.Cert, "node-1")
	assert.Equal(t, []string{"node-2"}, peer.DNSNames)

	assert.Error(t, tryHandshake(t, pki.Nodes["node-1"].Peer, pki.PeerCA.Cert, pki.Nodes["node-2"].Peer, pki.PeerCA.Cert, "node-3"),
		"a node was taken for another")
	assert.Error(t, tryHandshake(t, pki.Nodes["node-1"].Peer, pki.PeerCA.Cert, pki.Admin, pki.PeerCA.Cert, "node-1"),
		"a client's certificate was good on the peer port")
	assert.Error(t, tryHandshake(t, pki.Nodes["node-1"].Server, pki.CA.Cert, pki.Nodes["node-2"].Peer, pki.CA.Cert, "localhost"),
		"a node's peer certificate was good as a client's")
}

func TestMakePKIKeepsWhatIsGood(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	_, err := MakePKI(dir, []string{"node-1"}, now)
	require.NoError(t, err)
	before := contents(t, dir)
	require.Len(t, before, 10)

	_, err = MakePKI(dir, []string{"node-1"}, now.Add(certificateLifetime-renewBefore-time.Hour))
	require.NoError(t, err)
	assert.Equal(t, before, contents(t, dir))

	_, err = MakePKI(dir, []string{"node-1", "node-2"}, now)
	require.NoError(t, err)
	after := contents(t, dir)
	for path, content := range before {
		assert.Equal(t, content, after[path], path)
	}
	assert.Len(t, after, 14)
}

func TestMakePKIRenewsWhatIsAboutToExpireForTheSameKey(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	pki, err := MakePKI(dir, []string{"node-1"}, now)
	require.NoError(t, err)
	before := contents(t, dir)

	later := now.Add(certificateLifetime - renewBefore + time.Hour)
	_, err = MakePKI(dir, []string{"node-1"}, later)
	require.NoError(t, err)
	after := contents(t, dir)
	for _, pair := range []KeyPair{pki.Admin, pki.Nodes["node-1"].Server, pki.Nodes["node-1"].Peer} {
		assert.NotEqual(t, before[pair.Cert], after[pair.Cert], pair.Cert)
		assert.Equal(t, before[pair.Key], after[pair.Key], pair.Key)
	}
	assert.Equal(t, before[pki.CA.Cert], after[pki.CA.Cert])

	// A new certificate of the authority still stands behind what the former one signed.
	renewed, err := makeAuthority(filepath.Join(dir, "ca"), "leasehold-ca", now.Add(authorityLifetime))
	require.NoError(t, err)
	assert.NotEqual(t, before[pki.CA.Cert], contents(t, dir)[pki.CA.Cert])
	server, err := readCertificate(pki.Nodes["node-1"].Server.Cert)
	require.NoError(t, err)
	assert.NoError(t, server.CheckSignatureFrom(renewed.cert))
}

func TestMakePKIIssuesAnewWhatAnotherAuthoritySigned(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	pki, err := MakePKI(dir, []string{"node-1"}, time.Now())
	require.NoError(t, err)
	foreign, err := MakePKI(other, nil, time.Now())
	require.NoError(t, err)
	require.NoError(t, os.Rename(foreign.CA.Cert, pki.CA.Cert))
	require.NoError(t, os.Rename(foreign.CA.Key, pki.CA.Key))

	pki, err = MakePKI(dir, []string{"node-1"}, time.Now())
	require.NoError(t, err)
	handshake(t, pki.Nodes["node-1"].Server, pki.CA.Cert, pki.Admin, pki.CA.Cert, "localhost")
}

func TestMakePKILeavesAlienFilesAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ca.crt")
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err := MakePKI(dir, nil, time.Now())
	require.ErrorContains(t, err, path+": not a PEM file")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
}

// contents reads all files below dir and checks that nobody else can.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), path)
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	}))
	return found
}

// handshake returns the client's certificate as the server saw it.
func handshake(t *testing.T, server KeyPair, serverCA string, client KeyPair, clientCA, name string) *x509.Certificate {
	t.Helper()
	seen, err := dial(t, server, serverCA, client, clientCA, name)
	require.NoError(t, err)
	return seen
}

func tryHandshake(t *testing.T, server KeyPair, serverCA string, client KeyPair, clientCA, name string) error {
	t.Helper()
	_, err := dial(t, server, serverCA, client, clientCA, name)
	return err
}

func dial(t *testing.T, server KeyPair, serverCA string, client KeyPair, clientCA, name string) (*x509.Certificate, error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	ours := tls.Server(far, &tls.Config{
		Certificates: []tls.Certificate{load(t, server)},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool(t, clientCA),
	})
	theirs := tls.Client(near, &tls.Config{
		Certificates: []tls.Certificate{load(t, client)},
		RootCAs:      pool(t, serverCA),
		ServerName:   name,
	})
	done := make(chan error, 1)
	go func() {
		err := ours.Handshake()
		if err != nil {
			far.Close()
		}
		done <- err
	}()
	err := theirs.Handshake()
	if err != nil {
		near.Close()
	} else {
		go func() { theirs.Read(make([]byte, 1)) }() // a refusal by the server comes after the client's last message
	}
	if serverErr := <-done; err == nil {
		err = serverErr
	}
	if err != nil {
		return nil, err
	}
	return ours.ConnectionState().PeerCertificates[0], nil
}

func load(t *testing.T, pair KeyPair) tls.Certificate {
	t.Helper()
	loaded, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	return loaded
}

func pool(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	certs := x509.NewCertPool()
	require.True(t, certs.AppendCertsFromPEM(data))
	return certs
}
