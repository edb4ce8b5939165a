package sim

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/cluster"
	"github.com/leasehold/leasehold/httpapi"
	"github.com/leasehold/leasehold/httpapi/auth"
	"github.com/leasehold/leasehold/httpapi/discovery"
	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// process is a node's process, from its start to its end.
type process struct {
	id        string
	network   *network
	disk      *disk
	transport *raft.NetworkTransport
	calls     *listener
	node      *cluster.Node
	handler   http.Handler

	ctx    context.Context // ends with the process
	end    context.CancelFunc
	reason error          // why it ended itself; guarded by the testbed's mu
	doors  sync.WaitGroup // requests that are being answered
}

// settings are what a cluster's nodes have in common.
type settings struct {
	members         map[string]string
	documents       discovery.Documents
	logger          hclog.Logger
	electionTimeout time.Duration
	commitTimeout   time.Duration
	snapshotBytes   int64
	trailingBytes   int64
	historyAge      time.Duration
	historyBytes    int
	tailEvents      int
}

// with returns the settings of one life, which has flags of its own: of those of a node some that matter here.
func (s settings) with(life nemesis.Life) (*settings, error) {
	for _, flag := range life.Flags {
		name, value, _ := strings.Cut(flag, "=")
		var err error
		var bytes int64
		switch name {
		case "--election-timeout":
			s.electionTimeout, err = time.ParseDuration(value)
		case "--snapshot-bytes":
			bytes, err = strconv.ParseInt(value, 10, 64)
			s.snapshotBytes = min(s.snapshotBytes, bytes)
		case "--trailing-bytes":
			bytes, err = strconv.ParseInt(value, 10, 64)
			s.trailingBytes = min(s.trailingBytes, bytes)
		default:
			err = fmt.Errorf("%w: simulated nodes do not know it", nemesis.ErrUnsupported)
		}
		if err != nil {
			return nil, fmt.Errorf("flag %s: %w", flag, err)
		}
	}
	if len(life.Env) > 0 {
		return nil, fmt.Errorf("%w: simulated nodes have no environment", nemesis.ErrUnsupported)
	}
	return &s, nil
}

// begin starts a node's process on a disk. exit is told when the process ends itself. One that does so before it has quite
// begun has begun all the same, and is over.
func begin(id, incarnation string, net_ *network, d *disk, s *settings, exit func(*process, error)) (*process, error) {
	l := &process{id: id, network: net_, disk: d}
	l.ctx, l.end = context.WithCancel(context.Background())
	logger := s.logger.Named(id)
	l.transport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:                  layer{net_.listen(l, serviceRaft)},
		MaxPool:                 4,
		Timeout:                 2 * time.Second,
		Logger:                  logger.Named("transport"),
		MsgpackUseNewTimeFormat: true,
	})
	l.calls = net_.listen(l, serviceCalls)
	err := l.open(cluster.Config{
		ID:          id,
		Initial:     s.members,
		Incarnation: incarnation,
		Transport:   l.transport,
		Listener:    l.calls,
		Dial: func(ctx context.Context, to string) (net.Conn, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(l.ctx, cancel)()
			return net_.dial(ctx, l, to, serviceCalls)
		},
		Logs:      d,
		Stable:    d,
		Snapshots: snapshots{d},
		Exit: func(err error) {
			l.end()
			exit(l, err)
		},
		Logger:          logger,
		ElectionTimeout: s.electionTimeout,
		CommitTimeout:   s.commitTimeout,
		SnapshotBytes:   s.snapshotBytes,
		TrailingBytes:   s.trailingBytes,
		HistoryAge:      s.historyAge,
		HistoryBytes:    s.historyBytes,
		TailEvents:      s.tailEvents,
	})
	if err != nil {
		l.end()
		return nil, err
	}
	if l.node == nil {
		return l, nil
	}
	l.handler, err = httpapi.New(httpapi.Config{
		Authenticator: everybody{},
		Logger:        logger.Named("httpapi"),
		Documents:     s.documents,
	}, l.node)
	if err != nil {
		l.end()
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return l, nil
}

// open opens the node. A node that cannot trust its disk any more ends its process on the spot: the goroutine that opens it
// then does not come back, and there is no node.
func (l *process) open(config cluster.Config) (err error) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.node, err = cluster.Open(config)
	}()
	<-over
	if l.node == nil && err == nil {
		_ = l.transport.Close()
		_ = l.calls.Close()
	}
	return err
}

// stop ends the process in good order: no more requests, then the node, then what is still being answered, as far as ctx
// allows.
func (l *process) stop(ctx context.Context) error {
	err := l.node.Close(ctx)
	answered := make(chan struct{})
	go func() {
		l.doors.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	l.end()
	<-answered
	l.network.forget(l)
	return err
}

// bury does what is left to do about a process that is dead: its goroutines, which nobody hears any more, end.
func (l *process) bury() {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if l.node != nil {
		_ = l.node.Close(gone) // what a dead process still meets is nobody's concern
	}
	l.doors.Wait()
	l.network.forget(l)
}

// everybody may do everything: who may do what is no matter of clusters.
type everybody struct{}

var administrator = &auth.User{Name: "simulated", Groups: []string{auth.Masters, auth.Authenticated}}

func (everybody) Authenticate(*http.Request) (*auth.User, error) { return administrator, nil }
