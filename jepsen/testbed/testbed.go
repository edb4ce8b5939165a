package testbed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// Testbed is a cluster of real processes. All its methods may be called at the same time, but Close, which is the last.
type Testbed struct {
	options  Options
	mode     Mode
	why      string
	version  string // what the binary says of itself
	scalable bool   // it has the flag --election-timeout
	logger   hclog.Logger

	order []string // the nodes' names
	nodes map[string]*node
	net   network
	disks disks

	token   string
	ca      []byte
	clients map[string]*client
	monitor map[string]*client // past every fault

	watchers sync.WaitGroup // of what is done to running processes

	closing sync.Once
	closed  error // what closing returned
}

var _ nemesis.Target = (*Testbed)(nil)

// Open lays the place out, starts all nodes, and returns once they serve. After an error nothing is left but files.
func Open(ctx context.Context, options Options) (*Testbed, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("testbed: %w", err)
	}
	t := &Testbed{options: options, logger: options.Logger, nodes: map[string]*node{}, token: rand.Text(), clients: map[string]*client{},
		monitor: map[string]*client{}}
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("testbed: %w", errors.Join(err, t.Close()))
	}
	return t, nil
}

func (t *Testbed) open(ctx context.Context) (err error) {
	if err := t.askBinary(ctx); err != nil {
		return err
	}
	for k := 1; k <= t.options.Nodes; k++ {
		id := fmt.Sprintf("n%d", k)
		n := &node{id: id, dir: filepath.Join(t.options.Dir, "nodes", id)}
		if err := os.MkdirAll(n.data(), 0o700); err != nil {
			return err
		}
		t.order = append(t.order, id)
		t.nodes[id] = n
	}
	if err := t.choosePlace(); err != nil {
		return err
	}
	if err := t.layClients(); err != nil {
		return err
	}
	for _, id := range t.order {
		if err := t.begin(t.nodes[id], nemesis.Life{}); err != nil {
			return err
		}
	}
	return t.AwaitReady(ctx, t.order...)
}

// askBinary learns what the server can do.
func (t *Testbed) askBinary(ctx context.Context) error {
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, t.options.Binary, args...)
		cmd.Env = t.options.environment()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s %s: %w: %s", t.options.Binary, strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out)), nil
	}
	var err error
	if t.version, err = ask("version"); err != nil {
		return err
	}
	help, err := ask("serve", "--help")
	t.scalable = strings.Contains(help, "--election-timeout ")
	return err
}

// Mode is the kind of place that was chosen. Why says, in a sentence, why no stronger one was; "" if that is Root.
func (t *Testbed) Mode() Mode  { return t.mode }
func (t *Testbed) Why() string { return t.why }

// Version is what the binary says of itself.
func (t *Testbed) Version() string { return t.version }

// Nodes are the names of all nodes, whether they run or not.
func (t *Testbed) Nodes() []string { return append([]string(nil), t.order...) }

// Dir is where a node's files are: stderr.log, argv, and after Close its data. DataDir is where the data is until then.
func (t *Testbed) Dir(node string) string     { return filepath.Join(t.options.Dir, "nodes", node) }
func (t *Testbed) DataDir(node string) string { return t.nodes[node].data() }

func (t *Testbed) secrets() string { return filepath.Join(t.options.Dir, "secrets") }

// find returns nodes by their names.
func (t *Testbed) find(names ...string) ([]*node, error) {
	nodes := make([]*node, 0, len(names))
	for _, name := range names {
		n, ok := t.nodes[name]
		if !ok {
			return nil, fmt.Errorf("there is no node %q", name)
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// AwaitReady waits until nodes say that they serve. It fails at once if one of them does not run.
func (t *Testbed) AwaitReady(ctx context.Context, names ...string) error {
	nodes, err := t.find(names...)
	if err != nil {
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for _, n := range nodes {
		for {
			sample, err := t.Sample(ctx, n.id)
			if err == nil && sample.Ready {
				break
			}
			if n.current() == nil {
				return fmt.Errorf("%s does not run; the last that it said is:\n%s", n.id, strings.Join(logTail(n.stderr(), 10), "\n"))
			}
			select {
			case <-look.C:
			case <-ctx.Done():
				return fmt.Errorf("waiting for %s to serve: %w; the last that it said is:\n%s", n.id, ctx.Err(), strings.Join(logTail(n.stderr(), 10), "\n"))
			}
		}
	}
	return nil
}

// Close ends all nodes at once and takes the place down. Files stay. It may be called again, and then returns the same.
func (t *Testbed) Close() error {
	t.closing.Do(func() { t.closed = t.close() })
	return t.closed
}

func (t *Testbed) close() error {
	var faults []error
	if len(t.order) > 0 {
		faults = append(faults, t.closeFaults(), t.Kill(t.order...))
	}
	t.watchers.Wait()
	for _, c := range t.clients {
		c.close()
	}
	for _, c := range t.monitor {
		c.close()
	}
	if t.net != nil {
		faults = append(faults, t.net.close())
	}
	if t.disks != nil {
		faults = append(faults, t.disks.close())
	}
	return errors.Join(faults...)
}
