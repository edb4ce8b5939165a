package cluster

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Directory is a node as it runs in production: its stores in a directory, its peers behind one TLS port.
type Directory struct {
	// Config brings ID, Initial, Dir (made if it is missing), Exit, Logger and the tunables. OpenDirectory fills in the
	// rest.
	Config
	// Port is the peer port. Close closes it.
	Port net.Listener
	// Certificate names this node to its peers, by a DNS name or the common name, for client and server use.
	Certificate tls.Certificate
	// Roots are the peers' own certificate authority.
	Roots *x509.CertPool
}

const incarnationFile = "incarnation"

// OpenDirectory opens a node in a data directory. It first waits until the disk takes a write, logging why it does not,
// until ctx ends.
func OpenDirectory(ctx context.Context, d Directory) (*Node, error) {
	n, err := openDirectory(ctx, d)
	if err != nil {
		_ = d.Port.Close()
		return nil, fmt.Errorf("open data directory %s: %w", d.Dir, err)
	}
	return n, nil
}

func openDirectory(ctx context.Context, d Directory) (*Node, error) {
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return nil, err
	}
	err := waitForDisk(ctx, d.Dir, func(reason error) {
		if reason != nil {
			d.Logger.Error("disk does not take writes; waiting", "directory", d.Dir, "error", reason)
		} else {
			d.Logger.Info("disk takes writes again", "directory", d.Dir)
		}
	})
	if err != nil {
		return nil, err
	}
	config := d.Config
	if config.Incarnation, err = incarnation(d.Dir); err != nil {
		return nil, err
	}
	port := newPeers(peerConfig{
		ID:          config.ID,
		Certificate: d.Certificate,
		Roots:       d.Roots,
		Listener:    d.Port,
		Member:      func(id string) bool { _, ok := config.Initial[id]; return ok },
		Resolve: func(id string) (string, error) {
			address, ok := config.Initial[id]
			if !ok {
				return "", errNotMember
			}
			return address, nil
		},
		Logger: config.Logger.Named("peers"),
	})
	config.Transport = newNetworkTransport(port.raftLayer(), config.Logger.Named("transport"))
	config.Listener = newCallListener(port)
	config.Dial = port.dialCall
	config.Release = port.Close
	return Open(config)
}

// incarnation returns the random name of a data directory. A directory without a log gets a new one, whatever it was
// called before: either nobody has heard that name yet, since no peer is spoken to before the log is there, or the log is
// lost, and with it the votes and acknowledgements that the name stands for.
func incarnation(dir string) (string, error) {
	path := filepath.Join(dir, incarnationFile)
	_, err := os.Stat(filepath.Join(dir, boltFile))
	switch {
	case err == nil:
		return recordedIncarnation(path)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	name := rand.Text()
	unfinished := path + ".tmp"
	file, err := os.Create(unfinished)
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(name + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return "", err
	}
	return name, syncDir(dir)
}

func recordedIncarnation(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is missing: %w", path, errDamaged)
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(data))
	if name == "" {
		return "", fmt.Errorf("%s is empty: %w", path, errDamaged)
	}
	return name, nil
}

// callListener is the part of the peer port on which calls come in.
type callListener struct {
	port   *peers
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
}

func newCallListener(port *peers) *callListener {
	ctx, cancel := context.WithCancel(context.Background())
	return &callListener{port: port, ctx: ctx, cancel: cancel}
}

func (l *callListener) Accept() (net.Conn, error) {
	conn, id, err := l.port.acceptCall(l.ctx)
	if err != nil {
		return nil, err
	}
	return provenConn{conn, id}, nil
}

func (l *callListener) Close() error {
	l.cancel()
	return nil
}

func (l *callListener) Addr() net.Addr { return nodeAddr(l.port.config.ID) }

// provenConn is a connection whose other end has proved who it is.
type provenConn struct {
	net.Conn
	id string
}

// PeerID returns the node at the other end.
func (c provenConn) PeerID() string { return c.id }
