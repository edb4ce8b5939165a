package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config describes a balancer.
type Config struct {
	// Backends are the host:port of the nodes' API ports.
	Backends []string
	// TLS is how a node's /readyz is asked over HTTPS. Required.
	TLS *tls.Config
	// MaxConnections bounds the client connections; more wait in the kernel's queue. Default 10000.
	MaxConnections int
	// Interval lies between two questions to a node; Timeout bounds one, and one attempt to connect. Default 500 ms, 1 s.
	Interval time.Duration
	Timeout  time.Duration
	// Patience is how long a new connection waits for some node to be ready before it is closed: longer than an
	// election. Default 3 s.
	Patience time.Duration
	// Drain is how long connections stay with a node that answers that it is not ready, for it may be finishing
	// requests before it stops. A node that does not answer loses them at once. Default 3 s.
	Drain time.Duration
	// Logger gets changes of a backend's readiness. Default: none.
	Logger hclog.Logger
}

// withDefaults returns the configuration with what was left out filled in.
func (c Config) withDefaults() Config {
	if c.MaxConnections == 0 {
		c.MaxConnections = 10000
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Interval, 500 * time.Millisecond}, {&c.Timeout, time.Second}, {&c.Patience, 3 * time.Second}, {&c.Drain, 3 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}

// Proxy is a balancer.
type Proxy struct {
	config   Config
	backends *backends
	slots    chan struct{} // one for each client connection that may be open
}

// New returns a balancer that does nothing yet.
func New(config Config) (*Proxy, error) {
	if len(config.Backends) == 0 {
		return nil, errors.New("a balancer needs at least one backend")
	}
	for _, address := range config.Backends {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, fmt.Errorf("backend %q is not host:port: %w", address, err)
		}
	}
	config = config.withDefaults()
	return &Proxy{
		config:   config,
		backends: newBackends(config),
		slots:    make(chan struct{}, config.MaxConnections),
	}, nil
}

// Run balances the connections that listener accepts, until ctx ends; then it cuts what is open and returns nil.
func (p *Proxy) Run(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop()
	for _, b := range p.backends.all {
		tasks.Go(func() { p.backends.watch(ctx, b) })
	}
	tasks.Go(func() {
		<-ctx.Done()
		listener.Close()
	})
	for {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		client, err := listener.Accept()
		if err != nil {
			<-p.slots
			if ctx.Err() != nil {
				return nil
			}
			if temporary(err) {
				p.config.Logger.Warn("accept failed", "error", err)
				pause(ctx, 50*time.Millisecond)
				continue
			}
			return fmt.Errorf("accept: %w", err)
		}
		tasks.Go(func() {
			defer func() { <-p.slots }()
			p.carry(ctx, client)
		})
	}
}

// carry connects one client to a node and moves bytes until either side ends.
func (p *Proxy) carry(ctx context.Context, client net.Conn) {
	defer client.Close()
	b, node := p.connect(ctx)
	if node == nil {
		return
	}
	defer node.Close()
	// Closing both sides is how the connection is cut, by whoever wants it cut.
	cut := func() {
		client.Close()
		node.Close()
	}
	if !b.hold(node, cut) {
		return
	}
	defer b.release(node)
	defer context.AfterFunc(ctx, cut)()

	var upstream sync.WaitGroup
	upstream.Go(func() { pipe(node, client) })
	pipe(client, node)
	upstream.Wait()
}

// connect returns a connection to a ready node, trying each that is ready before it gives up on waiting for another.
func (p *Proxy) connect(ctx context.Context) (*backend, net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, p.config.Patience)
	defer cancel()
	dialer := net.Dialer{Timeout: p.config.Timeout}
	for {
		b, changed := p.backends.pick()
		if b == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, nil
			}
		}
		node, err := dialer.DialContext(ctx, "tcp", b.address)
		if err == nil {
			return b, node
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		p.backends.report(b, dead, err.Error())
	}
}

// pipe moves bytes one way and passes the end of the stream on. An error ends both ways.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // fails only when the connection is gone, and then there is nobody to tell
		return
	}
	to.Close()
	from.Close()
}

// temporary tells whether accepting may work again later, as when the process is out of file descriptors.
func temporary(err error) bool {
	var netError net.Error
	return errors.As(err, &netError) && !errors.Is(err, net.ErrClosed)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
