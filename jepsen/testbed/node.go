package testbed

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// node is one member of the cluster, whether it runs or not.
type node struct {
	id      string
	dir     string
	mounted string // its data directory while that is on a disk of its own; only opening and closing write it

	mu     sync.Mutex // guards what follows; held while a process is being started
	life   *process   // the current or the last, nil before the first
	lives  int
	disk   nemesis.Disk
	tracer *process // strace, while disk is not good and the node runs
}

func (n *node) data() string   { return cmp.Or(n.mounted, filepath.Join(n.dir, "data")) }
func (n *node) stderr() string { return filepath.Join(n.dir, "stderr.log") }
func (n *node) argv() string   { return filepath.Join(n.dir, "argv") }

// current returns the running process, or nil.
func (n *node) current() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life == nil || !n.life.running() {
		return nil
	}
	return n.life
}

// flags are those of serve, the life's own last, so that they win.
func (t *Testbed) flags(n *node, life nemesis.Life) []string {
	at := t.net.addresses(n.id)
	members := make([]string, 0, len(t.order))
	for _, other := range t.order {
		members = append(members, other+"="+at.peers[other])
	}
	own := filepath.Join(t.secrets(), n.id)
	flags := []string{
		"serve",
		"--id", n.id,
		"--data-dir", n.data(),
		"--listen", at.api,
		"--advertise-url", "https://" + at.public,
		"--tls-cert-file", filepath.Join(own, serverName+".crt"),
		"--tls-private-key-file", filepath.Join(own, serverName+".key"),
		"--token-auth-file", filepath.Join(t.secrets(), tokensFile),
		"--peer-listen", at.peer,
		"--peer-cert-file", filepath.Join(own, peerName+".crt"),
		"--peer-key-file", filepath.Join(own, peerName+".key"),
		"--peer-ca-file", filepath.Join(t.secrets(), peerCAFile),
		"--initial-cluster", strings.Join(members, ","),
	}
	return append(append(flags, t.options.Flags...), life.Flags...)
}

// begin starts a node's next life.
func (t *Testbed) begin(n *node, life nemesis.Life) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil && n.life.running() {
		if len(life.Flags)+len(life.Env) == 0 {
			return nil
		}
		return fmt.Errorf("start %s: it runs already, and cannot be given other flags", n.id)
	}
	argv := append([]string{t.options.Binary}, t.flags(n, life)...)
	n.lives++
	number := n.lives
	if err := n.announce(number, argv, life.Env); err != nil {
		return err
	}
	if err := t.net.up(n.id); err != nil {
		return fmt.Errorf("start %s: %w", n.id, err)
	}
	env := t.options.environment(append(t.clockEnvironment(n), life.Env...)...)
	p, err := startProcess(t.net.launcher(n.id), argv, env, n.stderr(), func(p *process) {
		t.net.down(n.id)
		t.reportExit(n, p, number)
	})
	if err != nil {
		t.net.down(n.id)
		return fmt.Errorf("start %s: %w", n.id, err)
	}
	n.life = p
	t.logger.Debug("node started", "node", n.id, "life", number, "pid", p.pid())
	if err := t.tamper(n); err != nil {
		return fmt.Errorf("start %s: its disk: %w", n.id, err)
	}
	return nil
}

// announce begins a life in the node's log, and tells how it was begun.
func (n *node) announce(life int, argv, env []string) error {
	line := strings.Join(append(env[:len(env):len(env)], argv...), " ")
	now := time.Now().UTC().Format(time.RFC3339Nano)
	if err := appendLine(n.stderr(), fmt.Sprintf("=== life %d of %s begins at %s", life, n.id, now)); err != nil {
		return err
	}
	return appendLine(n.argv(), line)
}

func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}

func (t *Testbed) reportExit(n *node, p *process, life int) {
	if p.asked.Load() {
		return
	}
	exit := Exit{Node: n.id, Life: life, Fate: p.fate(), Tail: logTail(n.stderr(), 20)}
	t.logger.Warn("node ended by itself", "node", n.id, "life", life, "fate", exit.Fate)
	if t.options.OnExit != nil {
		t.options.OnExit(exit)
	}
}
