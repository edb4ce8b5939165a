package testbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// Options describe a testbed.
type Options struct {
	Binary string   // the server's
	Nodes  int      // 3 if 0; they are named n1, n2...
	Mode   Mode     // Auto if empty
	Dir    string   // for everything; made if it is missing, kept afterwards
	Flags  []string // of serve, for every node and life
	Env    []string // likewise; nodes inherit the harness's environment but for LEASEHOLD_*

	// BasePort is the first of the ports of 127.0.0.1 that mode Proxy uses, n*(n+2) of them for n nodes. With 0 it takes any.
	BasePort int
	// DiskBytes is the size of each node's disk in mode Root; 128 MiB if 0. Files are sparse.
	DiskBytes int64
	// HTTP2 lets clients multiplex. Without it each request has a connection to itself, so that a broken one harms no other.
	HTTP2 bool
	// OnExit is told of each end of a process that nobody asked for, from a goroutine of its own, before the end is
	// noticed by anything else. It must not call the testbed. May be nil.
	OnExit func(Exit)
	Logger hclog.Logger // may be nil
}

// Exit is the end of a process that nobody asked for.
type Exit struct {
	Node string
	Life int      // of that node, from 1
	Fate string   // "exit status 70"
	Tail []string // the log's last lines
}

// String tells it in one line.
func (e Exit) String() string {
	last := "it printed nothing"
	if len(e.Tail) > 0 {
		last = e.Tail[len(e.Tail)-1]
	}
	return fmt.Sprintf("%s ended by itself in its life %d (%s): %s", e.Node, e.Life, e.Fate, last)
}

// maxNodes is what fits into addresses and ports with room to spare; no cluster under test is larger.
const maxNodes = 9

func (o *Options) validate() error {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Mode == "" {
		o.Mode = Auto
	}
	if o.DiskBytes == 0 {
		o.DiskBytes = 128 << 20
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	var faults []error
	if o.Nodes < 1 || o.Nodes > maxNodes {
		faults = append(faults, fmt.Errorf("%d nodes: choose 1 to %d", o.Nodes, maxNodes))
	}
	if _, err := ParseMode(string(o.Mode)); err != nil {
		faults = append(faults, err)
	}
	if o.DiskBytes < 16<<20 {
		faults = append(faults, fmt.Errorf("disks of %d bytes: a filesystem with a journal needs 16 MiB", o.DiskBytes))
	}
	if o.Dir == "" {
		faults = append(faults, errors.New("no directory is named"))
	}
	if info, err := os.Stat(o.Binary); err != nil {
		faults = append(faults, fmt.Errorf("the server's binary: %w", err))
	} else if info.IsDir() || info.Mode()&0o111 == 0 {
		faults = append(faults, fmt.Errorf("the server's binary: %s is no program", o.Binary))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	var err error
	if o.Binary, err = filepath.Abs(o.Binary); err != nil {
		return err
	}
	o.Dir, err = filepath.Abs(o.Dir)
	return err
}

// environment is that of a node's process.
func (o *Options) environment(more ...string) []string {
	var env []string
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "LEASEHOLD_") {
			env = append(env, setting)
		}
	}
	return append(append(env, o.Env...), more...)
}
