package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Lifetimes of what MakePKI issues. A certificate that has less than renewBefore to live is issued anew for its key,
// so that a development cluster which is started again now and then never meets an expired one.
const (
	authorityLifetime   = 10 * 365 * 24 * time.Hour
	certificateLifetime = 365 * 24 * time.Hour
	renewBefore         = 30 * 24 * time.Hour
)

// PKI names the PEM files of a development cluster. There are two authorities, so that no client's certificate is ever
// taken for a node's.
type PKI struct {
	CA     KeyPair // signs the servers' and the clients' certificates
	PeerCA KeyPair // signs the nodes' certificates for each other
	Admin  KeyPair // a client certificate of user admin in group system:masters
	Nodes  map[string]NodePKI
}

// NodePKI names the PEM files of one node.
type NodePKI struct {
	Server KeyPair // for the API port: localhost, 127.0.0.1 and ::1
	Peer   KeyPair // for the peer port, as server and as client: its DNS name is the node's ID
}

// KeyPair holds the paths of a certificate and of its private key.
type KeyPair struct {
	Cert, Key string
}

// MakePKI sees to it that dir holds valid certificates for the administrator and for the nodes of these IDs: ca.crt,
// peer-ca.crt and admin.crt in dir, server.crt and peer.crt in dir/ID, each with its .key beside it. What is there and
// good at the time now is kept. Keys are always kept, so a renewed authority still stands behind what it signed before.
// Files appear whole or not at all and are readable by their owner alone.
func MakePKI(dir string, ids []string, now time.Time) (PKI, error) {
	pki := PKI{Nodes: map[string]NodePKI{}}
	ca, err := makeAuthority(filepath.Join(dir, "ca"), "leasehold-ca", now)
	if err != nil {
		return PKI{}, err
	}
	pki.CA = ca.files
	peerCA, err := makeAuthority(filepath.Join(dir, "peer-ca"), "leasehold-peer-ca", now)
	if err != nil {
		return PKI{}, err
	}
	pki.PeerCA = peerCA.files
	if pki.Admin, err = ca.issue(filepath.Join(dir, "admin"), adminTemplate(), now); err != nil {
		return PKI{}, err
	}
	for _, id := range ids {
		var node NodePKI
		if node.Server, err = ca.issue(filepath.Join(dir, id, "server"), serverTemplate(id), now); err != nil {
			return PKI{}, err
		}
		if node.Peer, err = peerCA.issue(filepath.Join(dir, id, "peer"), peerTemplate(id), now); err != nil {
			return PKI{}, err
		}
		pki.Nodes[id] = node
	}
	return pki, nil
}

// adminTemplate is read by the door as kube-apiserver would: the common name is the user, organizations are the groups.
func adminTemplate() x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

func serverTemplate(id string) x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: id},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func peerTemplate(id string) x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: id},
		DNSNames:    []string{id},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// authority is a CA that can sign.
type authority struct {
	files KeyPair
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
}

func makeAuthority(base, name string, now time.Time) (*authority, error) {
	files := keyPairAt(base)
	key, err := makeKey(files.Key)
	if err != nil {
		return nil, err
	}
	current, err := readCertificate(files.Cert)
	if err != nil {
		return nil, err
	}
	if current != nil && current.IsCA && fresh(current, now) && key.PublicKey.Equal(current.PublicKey) {
		return &authority{files: files, cert: current, key: key}, nil
	}
	template := x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotAfter:              now.Add(authorityLifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	cert, err := sign(files.Cert, template, now, key, &template, key)
	if err != nil {
		return nil, err
	}
	return &authority{files: files, cert: cert, key: key}, nil
}

// issue makes the certificate that template describes, unless a good one is there.
func (a *authority) issue(base string, template x509.Certificate, now time.Time) (KeyPair, error) {
	files := keyPairAt(base)
	key, err := makeKey(files.Key)
	if err != nil {
		return KeyPair{}, err
	}
	current, err := readCertificate(files.Cert)
	if err != nil {
		return KeyPair{}, err
	}
	if current != nil && a.vouches(current, template, now) && key.PublicKey.Equal(current.PublicKey) {
		return files, nil
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.NotAfter = now.Add(certificateLifetime)
	_, err = sign(files.Cert, template, now, key, a.cert, a.key)
	return files, err
}

// vouches tells whether the certificate is this authority's, says what template says, and will live a while.
func (a *authority) vouches(cert *x509.Certificate, template x509.Certificate, now time.Time) bool {
	return fresh(cert, now) && cert.CheckSignatureFrom(a.cert) == nil &&
		cert.Subject.String() == template.Subject.String() &&
		slices.Equal(cert.DNSNames, template.DNSNames) &&
		slices.EqualFunc(cert.IPAddresses, template.IPAddresses, net.IP.Equal) &&
		slices.Equal(cert.ExtKeyUsage, template.ExtKeyUsage)
}

func fresh(cert *x509.Certificate, now time.Time) bool {
	return !now.Before(cert.NotBefore) && now.Add(renewBefore).Before(cert.NotAfter)
}

func sign(path string, template x509.Certificate, now time.Time, key *ecdsa.PrivateKey, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("serial number of %s: %w", path, err)
	}
	template.SerialNumber = serial
	template.NotBefore = now.Add(-time.Hour) // for clients whose clock is behind
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", path, err)
	}
	if err := writePEM(path, "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// makeKey reads the key at path, or writes a new one.
func makeKey(path string) (*ecdsa.PrivateKey, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	if block != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("private key %s: %w", path, err)
		}
		key, ok := parsed.(*ecdsa.PrivateKey)
		if !ok {
			return nil, fmt.Errorf("private key %s: not an ECDSA key", path)
		}
		return key, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("private key %s: %w", path, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("private key %s: %w", path, err)
	}
	return key, writePEM(path, "PRIVATE KEY", der)
}

// readCertificate returns nil if there is no file at path.
func readCertificate(path string) (*x509.Certificate, error) {
	block, err := readPEM(path)
	if block == nil || err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", path, err)
	}
	return cert, nil
}

// readPEM returns nil if there is no file at path. A file that is no PEM is an error and not a reason to replace it: it
// may be somebody's.
func readPEM(path string) (*pem.Block, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s: not a PEM file", path)
	}
	return block, nil
}

func keyPairAt(base string) KeyPair { return KeyPair{Cert: base + ".crt", Key: base + ".key"} }

func writePEM(path, kind string, der []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeSecret(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// writeSecret puts data at path for the owner alone to read: whole and on the disk, or not at all.
func writeSecret(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}
