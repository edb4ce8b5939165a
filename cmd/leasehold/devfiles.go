package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

// prepare writes the files that a cluster needs before its nodes start, and keeps what an earlier run left: keys,
// tokens and the number of nodes must be the same for the nodes' data to mean anything.
func (l devLayout) prepare(now time.Time) (PKI, error) {
	if err := l.keepNodes(); err != nil {
		return PKI{}, err
	}
	ids := make([]string, 0, l.Nodes)
	for k := 1; k <= l.Nodes; k++ {
		ids = append(ids, l.id(k))
		if err := os.MkdirAll(l.path(l.id(k)), 0o700); err != nil {
			return PKI{}, err
		}
	}
	pki, err := MakePKI(l.Dir, ids, now)
	if err != nil {
		return PKI{}, err
	}
	admin, err := keepToken(l.path("admin.token"))
	if err != nil {
		return PKI{}, err
	}
	user, err := keepToken(l.path("user.token"))
	if err != nil {
		return PKI{}, err
	}
	table := fmt.Sprintf("%s,admin,admin,system:masters\n%s,plain-user,user\n", admin, user)
	if err := writeSecret(l.path("tokens.csv"), []byte(table)); err != nil {
		return PKI{}, err
	}
	return pki, l.writeKubeconfig(pki.CA.Cert, admin)
}

// keepNodes refuses another number of nodes than the directory was made for.
func (l devLayout) keepNodes() error {
	path := l.path("nodes")
	made, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return writeSecret(path, []byte(strconv.Itoa(l.Nodes)+"\n"))
	}
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(made))); err != nil || n != l.Nodes {
		return fmt.Errorf("--nodes: %s was made for %s nodes, not for %d", l.Dir, strings.TrimSpace(string(made)), l.Nodes)
	}
	return nil
}

// keepToken returns the token in a file, made at random if there is none.
func keepToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if token := strings.TrimSpace(string(data)); err == nil && token != "" {
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text()
	return token, writeSecret(path, []byte(token+"\n"))
}

func (l devLayout) writeKubeconfig(caFile, token string) error {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	servers := []kubeconfig.Server{{Name: "cluster", URL: "https://" + l.balancer()}}
	for k := 1; k <= l.Nodes; k++ {
		servers = append(servers, kubeconfig.Server{Name: l.id(k), URL: "https://" + l.api(k)})
	}
	data, err := kubeconfig.Encode(servers, ca, "admin", token)
	if err != nil {
		return err
	}
	return writeSecret(l.path("kubeconfig"), data)
}

// serveFlags are the flags of node k's process.
func (l devLayout) serveFlags(k int, pki PKI, extra []string) []string {
	members := make([]string, 0, l.Nodes)
	for i := 1; i <= l.Nodes; i++ {
		members = append(members, l.id(i)+"="+l.peer(i))
	}
	node := pki.Nodes[l.id(k)]
	flags := []string{
		"serve",
		"--id", l.id(k),
		"--data-dir", l.path(l.id(k), "data"),
		"--listen", l.api(k),
		"--tls-cert-file", node.Server.Cert,
		"--tls-private-key-file", node.Server.Key,
		"--client-ca-file", pki.CA.Cert,
		"--token-auth-file", l.path("tokens.csv"),
		"--peer-listen", l.peer(k),
		"--peer-cert-file", node.Peer.Cert,
		"--peer-key-file", node.Peer.Key,
		"--peer-ca-file", pki.PeerCA.Cert,
		"--initial-cluster", strings.Join(members, ","),
		"--" + untilStdinClosesFlag,
	}
	return append(flags, extra...)
}

// proxyFlags are the flags of the balancer's process.
func (l devLayout) proxyFlags(pki PKI) []string {
	backends := make([]string, 0, l.Nodes)
	for k := 1; k <= l.Nodes; k++ {
		backends = append(backends, l.api(k))
	}
	return []string{
		"proxy",
		"--listen", l.balancer(),
		"--ca-file", pki.CA.Cert,
		"--backends", strings.Join(backends, ","),
		"--" + untilStdinClosesFlag,
	}
}
