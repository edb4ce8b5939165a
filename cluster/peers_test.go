package cluster

import (
	"bytes"

	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// authority signs certificates for peers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	roots       *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "peer authority"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &authority{certificate, key, roots}
}

func (a *authority) issue(t *testing.T, commonName string, dnsNames ...string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: commonName},
		DNSNames:     dnsNames,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// town is nodes a and b (and whoever is asked for) on loopback that know each other's ports.
type town struct {
	*authority
	ports map[string]string
}

func (w *town) open(t *testing.T, id string, certificate tls.Certificate) *peers {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.ports[id] = listener.Addr().String()
	p := newPeers(peerConfig{
		ID:          id,
		Certificate: certificate,
		Roots:       w.roots,
		Listener:    listener,
		Resolve: func(id string) (string, error) {
			if port, ok := w.ports[id]; ok {
				return port, nil
			}
			return "", fmt.Errorf("no address of %s", id)
		},
		Member: func(id string) bool { return slices.Contains([]string{"a", "b", "c"}, id) },
		Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func newTown(t *testing.T) *town { return &town{newAuthority(t), make(map[string]string)} }

func TestACallNamesItsCaller(t *testing.T) {
	w := newTown(t)
	a := w.open(t, "a", w.issue(t, "a"))
	b := w.open(t, "b", w.issue(t, "", "b.example.com", "b"))
	for caller, callee := range map[*peers]*peers{a: b, b: a} {
		called, err := caller.dialCall(t.Context(), callee.config.ID)
		require.NoError(t, err)
		defer called.Close()
		conn, id, err := callee.acceptCall(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		assert.Equal(t, caller.config.ID, id)
		_, err = called.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, 1))
		require.NoError(t, err)
	}
}

func TestOnlyTheNodeThatWasDialedIsSpokenTo(t *testing.T) {
	w := newTown(t)
	a := w.open(t, "a", w.issue(t, "a"))
	w.open(t, "c", w.issue(t, "c"))
	w.ports["b"] = w.ports["c"] // the address went to another member
	_, err := a.dialCall(t.Context(), "b")
	require.ErrorIs(t, err, errWrongPeer)
	_, err = a.dialCall(t.Context(), "stranger")
	require.ErrorIs(t, err, errNotMember)
}

func TestStrangersAreRefused(t *testing.T) {
	w := newTown(t)
	b := w.open(t, "b", w.issue(t, "b"))
	let := make(chan string, 16) // addresses of those who were let in
	go func() {
		for {
			conn, _, err := b.acceptCall(t.Context())
			if err != nil {
				return
			}
			let <- conn.RemoteAddr().String()
			conn.Close()
		}
	}()
	foreign := newTown(t)
	for name, config := range map[string]*tls.Config{
		"no certificate":      {},
		"another authority":   {Certificates: []tls.Certificate{foreign.issue(t, "a")}},
		"not a member":        {Certificates: []tls.Certificate{w.issue(t, "stranger", "stranger.example.com")}},
		"names two members":   {Certificates: []tls.Certificate{w.issue(t, "a", "c")}},
		"an older TLS":        {Certificates: []tls.Certificate{w.issue(t, "a")}, MaxVersion: tls.VersionTLS12},
		"no protocol":         {Certificates: []tls.Certificate{w.issue(t, "a")}, NextProtos: []string{}},
		"an unknown protocol": {Certificates: []tls.Certificate{w.issue(t, "a")}, NextProtos: []string{"h2"}},
	} {
		t.Run(name, func(t *testing.T) {
			config.InsecureSkipVerify = true
			if config.NextProtos == nil {
				config.NextProtos = []string{protocolCall}
			}
			conn, err := tls.Dial("tcp", w.ports["b"], config)
			if err == nil { // TLS 1.3: the client is done before the server has looked at it
				defer conn.Close()
				require.NoError(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
				_, err = conn.Read(make([]byte, 1))
				require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			}
			require.Error(t, err)
		})
	}
	// The port still serves who belongs there, and let nobody in before.
	a := w.open(t, "a", w.issue(t, "a"))
	called, err := a.dialCall(t.Context(), "b")
	require.NoError(t, err)
	defer called.Close()
	assert.Equal(t, called.LocalAddr().String(), <-let)
}

func TestSilentConnectionsDoNotKeepMembersOut(t *testing.T) {
	w := newTown(t)
	b := w.open(t, "b", w.issue(t, "b"))
	a := w.open(t, "a", w.issue(t, "a"))
	for range maxHandshakes - 1 {
		conn, err := net.Dial("tcp", w.ports["b"])
		require.NoError(t, err)
		defer conn.Close()
	}
	called, err := a.dialCall(t.Context(), "b")
	require.NoError(t, err)
	defer called.Close()
	_, id, err := b.acceptCall(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "a", id)
}

// Three raft nodes over the real peer port elect, replicate, and stop without leaving a goroutine behind.
func TestRaftRunsOverThePeerPort(t *testing.T) {
	w := newTown(t)
	var servers []raft.Server
	ports := make(map[string]*peers)
	for _, id := range []string{"a", "b", "c"} {
		ports[id] = w.open(t, id, w.issue(t, id))
		servers = append(servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id)})
	}
	machines := make(map[string]*ledger)
	nodes := make(map[string]*raft.Raft)
	for id, port := range ports {
		inner := newNetworkTransport(port.raftLayer(), hclog.NewNullLogger())
		transport := newTransport(inner, raft.ServerID(id), hclog.NewNullLogger())
		store := raft.NewInmemStore()
		stores, err := guardStores(store, store, raft.NewInmemSnapshotStore(), "memory", nil, func(err error) { t.Error(err) })
		require.NoError(t, err)
		config := trioConfig(raft.ServerID(id))
		require.NoError(t, raft.BootstrapCluster(config, stores.log, stores.stable, stores.snapshots, transport,
			raft.Configuration{Servers: servers}))
		machines[id] = &ledger{}
		nodes[id], err = raft.NewRaft(config, machines[id], stores.log, stores.stable, stores.snapshots, transport)
		require.NoError(t, err)
		transport.attach(nodes[id])
	}
	large := bytes.Repeat([]byte("x"), 2<<20)
	eventually(t, 30*time.Second, func() bool {
		for _, node := range nodes {
			if node.State() == raft.Leader && node.Apply(large, time.Second).Error() == nil {
				return true
			}
		}
		return false
	})
	eventually(t, 30*time.Second, func() bool {
		return !slices.ContainsFunc([]string{"a", "b", "c"}, func(id string) bool { return len(machines[id].all()) == 0 })
	})
	for _, node := range nodes {
		_, leader := node.LeaderWithID()
		assert.Contains(t, []raft.ServerID{"a", "b", "c"}, leader)
	}
	for _, node := range nodes {
		require.NoError(t, node.Shutdown().Error())
	}
}

// A write that takes longer than the call's deadline as a whole, but goes on, is not cut.
func TestDeadlinesGrowWithTheBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		conn := &pacedConn{Conn: near, closed: func() {}}
		defer conn.Close()
		const size = 20 * pacedChunk
		go func() {
			buffer := make([]byte, pacedChunk)
			for received := 0; received < size; {
				n, err := far.Read(buffer)
				if err != nil {
					return
				}
				received += n
				time.Sleep(20 * time.Millisecond)
			}
			time.Sleep(300 * time.Millisecond) // to disk
			_, _ = far.Write([]byte("k"))
		}()
		require.NoError(t, conn.SetDeadline(time.Now().Add(200*time.Millisecond)))
		n, err := conn.Write(make([]byte, size))
		require.NoError(t, err)
		require.Equal(t, size, n)
		_, err = io.ReadFull(conn, make([]byte, 1))
		require.NoError(t, err)

		// What awaits nothing keeps its deadline.
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	})
}
