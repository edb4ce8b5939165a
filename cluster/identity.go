package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

var (
	errNotMember = errors.New("not a member of the cluster")
	errWrongPeer = errors.New("certificate names another node")
)

// serverTLS asks the caller for a certificate of our authority. Which member it names is identify's business.
func (p *peers) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{p.config.Certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    p.config.Roots,
		NextProtos:   []string{protocolRaft, protocolCall},
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := p.identify(state)
			return err
		},
		// A resumed session would not be verified anew.
		SessionTicketsDisabled: true,
	}
}

// clientTLS accepts only the node id. The chain is verified here rather than by crypto/tls, which does not know a name
// that is no DNS name.
func (p *peers) clientTLS(id, protocol string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{p.config.Certificate},
		NextProtos:         []string{protocol},
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(state tls.ConnectionState) error {
			if state.NegotiatedProtocol != protocol {
				return fmt.Errorf("peer does not speak %s", protocol)
			}
			intermediates := x509.NewCertPool()
			for _, certificate := range state.PeerCertificates[1:] {
				intermediates.AddCert(certificate)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
				Roots:         p.config.Roots,
				Intermediates: intermediates,
				KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			})
			if err != nil {
				return err
			}
			if !slices.Contains(names(state.PeerCertificates[0]), id) {
				return fmt.Errorf("%w: %v", errWrongPeer, names(state.PeerCertificates[0]))
			}
			return nil
		},
	}
}

// identify tells which one member the other end is.
func (p *peers) identify(state tls.ConnectionState) (string, error) {
	if state.NegotiatedProtocol == "" {
		return "", errors.New("peer asks for no protocol")
	}
	var members []string
	for _, name := range names(state.PeerCertificates[0]) {
		if p.config.Member(name) && !slices.Contains(members, name) {
			members = append(members, name)
		}
	}
	switch len(members) {
	case 0:
		return "", fmt.Errorf("%v: %w", names(state.PeerCertificates[0]), errNotMember)
	case 1:
		return members[0], nil
	}
	return "", fmt.Errorf("certificate names several members: %v", members)
}

// names are the IDs that a certificate may stand for.
func names(certificate *x509.Certificate) []string {
	all := slices.Clone(certificate.DNSNames)
	if name := certificate.Subject.CommonName; name != "" {
		all = append(all, name)
	}
	return all
}
