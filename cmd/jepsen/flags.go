package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/leasehold/leasehold/jepsen"
	"github.com/leasehold/leasehold/jepsen/testbed"
	"github.com/leasehold/leasehold/jepsen/workload"
)

// runFlags are those of all commands that run clusters.
type runFlags struct {
	spec   jepsen.Spec
	remote jepsen.Remote
	token  string
	store  string
	ledger string
	keep   bool
	debug  bool
}

func (f *runFlags) add(c *cobra.Command) {
	s := &f.spec
	flags := c.Flags()
	flags.DurationVar(&s.Duration, "time-limit", time.Minute, "how long clients work under faults; healing and judging come after it")
	flags.DurationVar(&s.Interval, "interval", 5*time.Second, "how long a fault lasts on average")
	flags.Float64Var(&s.Overlap, "overlap", 2, "how many faults are in force at once, on average")
	flags.IntVar(&s.Nodes, "nodes", 3, "size of the cluster")
	flags.Float64Var(&s.Rate, "rate", 500, "operations a second over all clients")
	flags.IntVar(&s.Clients, "clients", 30, "clients at work at once")
	flags.Uint64Var(&s.Seed, "seed", 1, "draws all that is left to chance")
	flags.StringVar(&s.Mode, "mode", "auto", "where nodes run: root (network namespaces, a disk for each), userns (the same without root and disks), proxy (anywhere), auto (the first of them that can be had)")
	flags.StringVar(&s.Binary, "bin", "", "the server's binary (default leasehold beside this program)")
	flags.StringArrayVar(&s.Flags, "serve-flag", nil, "a flag more for each node, as --snapshot-bytes=1048576; may be repeated")
	flags.StringArrayVar(&s.Env, "env", nil, "NAME=VALUE more in each node's environment; may be repeated")
	flags.StringVar(&f.store, "out", "store", "where the folders of runs are")
	flags.StringVar(&f.ledger, "ledger", "", "JSON-lines file to which the run is added")
	flags.BoolVar(&f.keep, "keep-data", false, "keep the nodes' data of a run that passed")
	flags.BoolVar(&f.debug, "debug", false, "log what the harness does")
}

// addRemote adds the flags for a cluster that somebody else runs.
func (f *runFlags) addRemote(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.remote.URLs, "url", nil, "drive the cluster at these URLs, one for each node, instead of starting one; its nodes are left alone")
	flags.StringVar(&f.token, "token-file", "", "file with the bearer token for --url (or JEPSEN_TOKEN)")
	flags.StringVar(&f.remote.CAFile, "ca-file", "", "authorities of the certificates of --url, PEM (default the system's)")
	flags.BoolVar(&f.remote.Insecure, "insecure-skip-tls-verify", false, "take any certificate from --url")
}

// complete fills in what follows from the surroundings.
func (f *runFlags) complete() error {
	if len(f.remote.URLs) > 0 {
		f.remote.Token = os.Getenv("JEPSEN_TOKEN")
		if f.token != "" {
			data, err := os.ReadFile(f.token)
			if err != nil {
				return fmt.Errorf("--token-file: %w", err)
			}
			f.remote.Token = strings.TrimSpace(string(data))
		}
		f.spec.Remote = &f.remote
		f.spec.Nodes = len(f.remote.URLs)
		if f.spec.Binary != "" || f.ledger != "" {
			return errors.New("--bin and --ledger are for clusters that are started here, not for --url")
		}
		return nil
	}
	if f.spec.Binary == "" {
		var err error
		if f.spec.Binary, err = beside("leasehold"); err != nil {
			return err
		}
	}
	var err error
	f.spec.Binary, err = filepath.Abs(f.spec.Binary)
	return err
}

// beside finds a program in the directory of this one.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no server to try: %w (make build puts it there; or name one with --bin)", err)
	}
	return path, nil
}

// options are what a run needs besides its spec.
func (f *runFlags) options(c *cobra.Command) (jepsen.Options, error) {
	self, err := os.Executable()
	if err != nil {
		return jepsen.Options{}, err
	}
	o := jepsen.Options{Store: f.store, Out: c.OutOrStdout(), Live: isTerminal(os.Stdout), Keep: f.keep,
		Electors: func(authorities string, insecure bool) workload.Electors {
			return workload.Processes{Command: []string{self, "elector"}, CA: authorities, Insecure: insecure}
		}, Command: strings.Join(os.Args, " ")}
	if f.debug {
		o.Logger = hclog.New(&hclog.LoggerOptions{Name: "jepsen", Level: hclog.Debug, Output: os.Stderr})
	}
	return o, nil
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// enter has the program run in namespaces of its own where the mode asks for that: it does not return then, but ends with
// the program in them.
func (f *runFlags) enter() error {
	if f.spec.Remote != nil {
		return nil
	}
	return testbed.Enter(testbed.Mode(f.spec.Mode))
}
