package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/cluster/clustertest"
)

// authority signs certificates for the nodes of one test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "peers"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{certificate, key}
}

func (a authority) sign(t *testing.T, name string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestDirectoriesOverTLSFormAClusterAndComeBack(t *testing.T) {
	authority := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.certificate)
	members := make(map[string]string)
	dirs := make(map[string]string)
	certificates := make(map[string]tls.Certificate)
	listeners := make(map[string]net.Listener)
	for i := range 3 {
		id := fmt.Sprintf("node-%d", i+1)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		members[id], dirs[id], listeners[id] = listener.Addr().String(), t.TempDir(), listener
		certificates[id] = authority.sign(t, id)
	}
	ctx := patient(t)
	open := func() (nodes []*cluster.Node) {
		for id := range members {
			if listeners[id] == nil {
				listener, err := net.Listen("tcp", members[id])
				require.NoError(t, err)
				listeners[id] = listener
			}
			node, err := cluster.OpenDirectory(ctx, cluster.Directory{
				Config: cluster.Config{
					ID: id, Initial: members, Dir: dirs[id],
					Exit:   func(err error) { t.Error(err) },
					Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: t.Output()}),
				},
				Port: listeners[id], Certificate: certificates[id], Roots: roots,
			})
			require.NoError(t, err)
			nodes = append(nodes, node)
			listeners[id] = nil
		}
		return nodes
	}
	closeAll := func(nodes []*cluster.Node) {
		for _, node := range nodes {
			ctx, cancel := context.WithTimeout(context.Background(), clustertest.Patience)
			require.NoError(t, node.Close(ctx))
			cancel()
		}
	}
	nodes := open()
	for i, node := range nodes {
		_, err := node.Propose(ctx, create(fmt.Sprintf("kept-%d", i), "value"))
		require.NoError(t, err)
	}
	closeAll(nodes)
	nodes = open()
	for i, node := range nodes {
		require.NoError(t, node.Barrier(ctx))
		require.Equal(t, "value", stored(node, fmt.Sprintf("kept-%d", i)))
	}
	closeAll(nodes)
}
