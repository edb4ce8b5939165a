package jepsen

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is all that decides what a run does. It is kept as run.json in the run's folder, so that the run can be done again.
type Spec struct {
	Workloads []string `json:"workloads"`
	// Nemesis are kinds or families of faults; each is a stream of its own.
	Nemesis []string `json:"nemesis"`
	// Pairs are kinds that strike together, each as "kind+kind".
	Pairs []string `json:"pairs,omitempty"`
	// Duration is how long faults and clients go on; healing and the last reads come after it.
	Duration time.Duration `json:"duration"`
	// Recovery is how long clients go on once all faults are over; 0 is the usual.
	Recovery time.Duration `json:"recovery,omitempty"`
	// Ending bounds the wait for a cluster to come back at the end, once for clients and once for all to be level; 0 is the
	// usual.
	Ending time.Duration `json:"ending,omitempty"`
	// Interval is the mean time between two strikes of one stream.
	Interval time.Duration `json:"interval"`
	// Overlap is how many faults are in force at once, on average.
	Overlap float64 `json:"overlap,omitempty"`
	Nodes   int     `json:"nodes"`
	Rate    float64 `json:"rate"`    // operations a second over all clients
	Clients int     `json:"clients"` // at work at once
	Seed    uint64  `json:"seed"`
	Mode    string  `json:"mode"` // auto, root, userns or proxy
	// Binary is the server's. Flags and Env are added to each node's.
	Binary string   `json:"binary,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Env    []string `json:"env,omitempty"`
	// Remote is a cluster that somebody else runs: no faults are done to its nodes.
	Remote *Remote `json:"remote,omitempty"`
	// Only, when not nil, holds the indexes of those entries of the schedule that are done.
	Only []int `json:"only"`
}

// Remote is how a cluster that somebody else runs is reached.
type Remote struct {
	URLs     []string `json:"urls"`
	Token    string   `json:"-"`
	CAFile   string   `json:"caFile,omitempty"`
	Insecure bool     `json:"insecure,omitempty"`
}

// Validate reports what cannot be run, all at once.
func (s *Spec) Validate() error {
	var problems []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	require(len(s.Workloads) > 0, "--workload: none given; there are %s", strings.Join(Workloads(), ", "))
	for _, name := range s.Workloads {
		require(slices.Contains(Workloads(), name), "--workload: there is no %q; there are %s", name, strings.Join(Workloads(), ", "))
	}
	require(s.Duration >= time.Second, "--time-limit: %v is shorter than a second", s.Duration)
	require(s.Nodes >= 1 && s.Nodes <= 9, "--nodes: %d is not from 1 to 9", s.Nodes)
	require(s.Rate > 0, "--rate: %v is not above zero", s.Rate)
	require(s.Clients > 0 && s.Clients <= 1000, "--clients: %d is not from 1 to 1000", s.Clients)
	require(slices.Contains([]string{"auto", "root", "userns", "proxy"}, s.Mode), "--mode: %q is none of auto, root, userns, proxy", s.Mode)
	require((s.Remote == nil) != (s.Binary == ""), "either --bin or --url is needed, and not both")
	require(s.Remote == nil || len(s.Nemesis)+len(s.Pairs) == 0, "--nemesis: faults are not done to a cluster that is given by --url")
	return errors.Join(problems...)
}

// title names a run: what its folder's name says after the time.
func (s *Spec) title() string {
	faults := strings.Join(append(slices.Clone(s.Nemesis), s.Pairs...), "-")
	if faults == "" {
		faults = "calm"
	}
	if len(faults) > 60 {
		faults = fmt.Sprintf("%d-kinds", len(s.Nemesis)+len(s.Pairs))
	}
	return fmt.Sprintf("%s-%s-%d", strings.Join(s.Workloads, "-"), faults, s.Seed)
}

const specFile = "run.json"

func (s *Spec) write(dir string) error {
	return writeJSON(filepath.Join(dir, specFile), s)
}

// ReadSpec reads what a run's folder says of itself.
func ReadSpec(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, specFile))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("read the spec of the run: %w", err)
	}
	return s, nil
}

// openIn opens a file of a run's folder.
func openIn(dir, name string) (*os.File, error) {
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("read what the run left: %w", err)
	}
	return file, nil
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
