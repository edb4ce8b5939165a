package testbed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The names of the files of secrets within their directory. A node's are within its own, below that.
const (
	caFile     = "ca.crt"
	peerCAFile = "peer-ca.crt"
	tokensFile = "tokens.csv"
	serverName = "server" // with .crt and .key
	peerName   = "peer"   // likewise
)

// writeSecrets makes, for a cluster of these nodes, the authorities, each node's certificates towards clients and towards
// its peers, and the table of tokens. hosts are the addresses at which nodes are reached. Everything is made anew at every
// call. It returns the authority for clients, as PEM.
func writeSecrets(dir string, nodes []string, hosts map[string]string, token string) ([]byte, error) {
	ca, err := newAuthority("jepsen-ca")
	if err != nil {
		return nil, err
	}
	peerCA, err := newAuthority("jepsen-peer-ca")
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		own := filepath.Join(dir, node)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return nil, err
		}
		err := ca.issue(filepath.Join(own, serverName), x509.Certificate{
			Subject:     pkix.Name{CommonName: node},
			IPAddresses: []net.IP{net.ParseIP(hosts[node]), net.IPv4(127, 0, 0, 1)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
		if err != nil {
			return nil, err
		}
		err = peerCA.issue(filepath.Join(own, peerName), x509.Certificate{
			Subject:     pkix.Name{CommonName: node},
			DNSNames:    []string{node},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			return nil, err
		}
	}
	table := fmt.Sprintf("%s,admin,admin,system:masters\n", token)
	for name, data := range map[string][]byte{caFile: ca.pem, peerCAFile: peerCA.pem, tokensFile: []byte(table)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	return ca.pem, nil
}

// authority signs certificates. Its key is never written down.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	a := &authority{key: key}
	a.cert, a.pem, err = sign(&template, &template, key, key)
	return a, err
}

// issue writes a new key and the certificate that template describes to base.key and base.crt.
func (a *authority) issue(base string, template x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	_, cert, err := sign(&template, a.cert, key, a.key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(base+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(base+".crt", cert, 0o600)
}

// sign makes a certificate that lives for a year, and began a day ago, as a node's clock may be set off.
func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, []byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().AddDate(0, 0, -1)
	template.NotAfter = time.Now().AddDate(1, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate of %s: %w", template.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}
