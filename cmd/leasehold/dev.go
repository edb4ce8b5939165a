package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// stopGrace is more than a node allows itself for stopping, so that a kill means a fault.
const stopGrace = 40 * time.Second

func devCommand() *cobra.Command {
	var layout devLayout
	command := &cobra.Command{
		Use:   "dev --dir DIR --base-port P [--nodes N] [-- serve flags]",
		Short: "Run a cluster for development: real processes on loopback, until interrupted",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return fmt.Errorf("unexpected argument %q: flags for the nodes come after --", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDev(cmd.Context(), cmd.OutOrStdout(), layout, args)
		},
	}
	flags := command.Flags()
	flags.StringVar(&layout.Dir, "dir", ".leasehold", "directory for data, certificates, tokens and logs; kept between runs")
	flags.IntVar(&layout.BasePort, "base-port", 7443, "port P of the first node; also uses P+1.., P+50 and P+100..")
	flags.IntVar(&layout.Nodes, "nodes", 3, "number of nodes")
	command.AddCommand(devRestartCommand())
	return command
}

// devCluster is a running development cluster.
type devCluster struct {
	layout devLayout
	pki    PKI
	extra  []string // more flags for every node
	client *http.Client

	restarts map[int]*sync.Mutex // of each node: held while it is being restarted

	mu       sync.Mutex // guards what follows; never held across a wait
	stopping bool       // nothing is started any more
	out      io.Writer
	nodes    map[int]*process
	leaving  map[*process]bool // asked to stop: their end is not reported
	balancer *process
}

func runDev(ctx context.Context, out io.Writer, layout devLayout, extra []string) error {
	if err := layout.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(layout.Dir, 0o700); err != nil {
		return err
	}
	unlock, err := lockDir(layout.path("lock"))
	if err != nil {
		return fmt.Errorf("%s is in use by another leasehold dev: %w", layout.Dir, err)
	}
	defer unlock()
	if err := layout.checkPorts(); err != nil {
		return err
	}
	pki, err := layout.prepare(time.Now())
	if err != nil {
		return err
	}
	roots, err := readAuthorities(pki.CA.Cert)
	if err != nil {
		return err
	}
	d := &devCluster{
		layout: layout, pki: pki, extra: extra, out: out,
		nodes: map[int]*process{}, leaving: map[*process]bool{}, restarts: map[int]*sync.Mutex{},
		client: &http.Client{
			Timeout:   5 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
		},
	}
	for k := 1; k <= layout.Nodes; k++ {
		d.restarts[k] = &sync.Mutex{}
	}
	return d.run(ctx)
}

func (d *devCluster) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.stop()) }()
	closeControl, err := d.serveControl(ctx)
	if err != nil {
		return err
	}
	defer closeControl()
	for k := 1; k <= d.layout.Nodes; k++ {
		if err := d.startNode(k); err != nil {
			return err
		}
	}
	if err := d.startBalancer(); err != nil {
		return err
	}
	if err := d.awaitAll(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	d.say("ready: %d nodes on https://%s and up, balancer on https://%s", d.layout.Nodes, d.layout.api(1), d.layout.balancer())
	d.say("try: kubectl --kubeconfig %s get leases --all-namespaces", d.layout.path("kubeconfig"))
	<-ctx.Done()
	return nil
}

func (d *devCluster) startNode(k int) error {
	id := d.layout.id(k)
	d.mu.Lock()
	if d.stopping {
		d.mu.Unlock()
		return errors.New("the cluster is stopping")
	}
	p, err := startProcess(id, d.layout.serveFlags(k, d.pki, d.extra), d.layout.path(id, "log"), d.layout.path(id, "pid"))
	if err == nil {
		d.nodes[k] = p
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	d.say("%s: started, pid %d, log in %s", id, p.pid(), d.layout.path(id, "log"))
	go d.reportEnd(p, fmt.Sprintf("start it again with: leasehold dev restart %d --dir %s", k, d.layout.Dir))
	return nil
}

func (d *devCluster) startBalancer() error {
	if err := os.MkdirAll(d.layout.path("balancer"), 0o700); err != nil {
		return err
	}
	p, err := startProcess("balancer", d.layout.proxyFlags(d.pki), d.layout.path("balancer", "log"), d.layout.path("balancer", "pid"))
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.balancer = p
	d.mu.Unlock()
	go d.reportEnd(p, "the nodes go on without it")
	return nil
}

// reportEnd tells of a process that ends unasked.
func (d *devCluster) reportEnd(p *process, advice string) {
	<-p.ended
	d.mu.Lock()
	asked := d.leaving[p]
	d.mu.Unlock()
	if !asked {
		d.say("%s: ended (%s); %s", p.name, p.fate(), advice)
	}
}

// awaitAll returns once every node and the balancer serve; with an error when a process ends before that.
func (d *devCluster) awaitAll(ctx context.Context) error {
	d.mu.Lock()
	balancer := d.balancer
	d.mu.Unlock()
	for k := 1; k <= d.layout.Nodes; k++ {
		if err := d.awaitNode(ctx, k, "/readyz"); err != nil {
			return err
		}
	}
	return d.await(ctx, balancer, d.layout.balancer()+"/readyz", d.layout.path("balancer", "log"))
}

func (d *devCluster) awaitNode(ctx context.Context, k int, path string) error {
	d.mu.Lock()
	p := d.nodes[k]
	d.mu.Unlock()
	return d.await(ctx, p, d.layout.api(k)+path, d.layout.path(d.layout.id(k), "log"))
}

// await asks for a URL until the answer is 200. It returns nil when ctx ends first.
func (d *devCluster) await(ctx context.Context, p *process, url, logFile string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !d.answers(ctx, url) {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it was ready (%s); its log ends with:\n%s", p.name, p.fate(), logTail(logFile, 10))
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	return nil
}

func (d *devCluster) answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+url, nil)
	if err != nil {
		return false
	}
	response, err := d.client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop stops the nodes one after the other, so that each can hand its leadership over, and the balancer last, so that
// its clients hear from the nodes that they should leave.
func (d *devCluster) stop() error {
	d.mu.Lock()
	d.stopping = true
	var order []*process
	for k := d.layout.Nodes; k >= 1; k-- {
		if p := d.nodes[k]; p != nil {
			order = append(order, p)
		}
	}
	if d.balancer != nil {
		order = append(order, d.balancer)
	}
	for _, p := range order {
		d.leaving[p] = true
	}
	d.mu.Unlock()

	var faults []error
	for _, p := range order {
		if !p.running() {
			continue
		}
		err := p.stop(stopGrace)
		if err == nil {
			d.say("%s: stopped", p.name)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (d *devCluster) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, format+"\n", args...)
}

// lockDir holds a lock on a file until unlock is called or the process ends in whatever way.
func lockDir(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
