package jepsen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/leasehold/leasehold/jepsen/nemesis"
	"github.com/leasehold/leasehold/jepsen/testbed"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// place is where the cluster under test is.
type place struct {
	endpoints []workload.Endpoint
	nodes     []string
	target    nemesis.Target // nil where no harm can be done
	ca        string         // authorities that vouch for the endpoints, PEM; "" is the system's
	insecure  bool           // any certificate will do
	mode, why string
	version   string // what the server says of itself
	close     func() error

	mu    sync.Mutex // guards exits
	exits []string   // processes that ended and were not asked to
}

func (p *place) note(exit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exits = append(p.exits, exit)
}

// openPlace starts a cluster for the run, or reaches the one that it names.
func openPlace(ctx context.Context, spec Spec, dir string, logger hclog.Logger) (*place, error) {
	if spec.Remote != nil {
		return remotePlace(*spec.Remote)
	}
	p := &place{}
	bed, err := testbed.Open(ctx, testbed.Options{
		Binary: spec.Binary, Nodes: spec.Nodes, Mode: testbed.Mode(spec.Mode), Dir: dir, Flags: spec.Flags, Env: spec.Env, Logger: logger,
		OnExit: func(e testbed.Exit) { p.note(e.String()) },
	})
	if err != nil {
		return nil, err
	}
	p.ca = string(bed.CA())
	p.target, p.nodes, p.close = bed, bed.Nodes(), bed.Close
	p.mode, p.why, p.version = string(bed.Mode()), bed.Why(), bed.Version()
	for _, node := range p.nodes {
		p.endpoints = append(p.endpoints, workload.Endpoint{Node: node, URL: bed.URL(node), Client: bed.Client(node), Token: bed.Token()})
	}
	return p, nil
}

// remotePlace reaches a cluster that somebody else runs.
func remotePlace(r Remote) (*place, error) {
	p := &place{mode: "url", why: "the cluster is run by somebody else, so its nodes are left alone", insecure: r.Insecure}
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: r.Insecure}
	if r.CAFile != "" {
		pem, err := os.ReadFile(r.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		p.ca = string(pem)
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca-file: %s holds no certificate", r.CAFile)
		}
	}
	var transports []*http.Transport
	for i, url := range r.URLs {
		node := fmt.Sprintf("n%d", i+1)
		transport := &http.Transport{TLSClientConfig: config.Clone(), MaxIdleConnsPerHost: 512, Proxy: http.ProxyFromEnvironment}
		transports = append(transports, transport)
		p.nodes = append(p.nodes, node)
		p.endpoints = append(p.endpoints, workload.Endpoint{Node: node, URL: url, Client: &http.Client{Transport: transport}, Token: r.Token})
	}
	p.close = func() error {
		for _, t := range transports {
			t.CloseIdleConnections()
		}
		return nil
	}
	return p, nil
}
