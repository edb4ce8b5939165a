package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Spec says what to measure.
type Spec struct {
	// Mode is one of Modes.
	Mode string
	// Protobuf makes bodies and answers protobuf; else they are JSON.
	Protobuf bool
	// Workers is how many operations are under way at a time.
	Workers int
	// Connections is how many connections they share, spread over the nodes. 0 is one for each worker, up to 256.
	Connections int
	// Rate in operations a second makes an open loop: each has an intended start, from which its latency counts. 0 is a
	// closed loop.
	Rate float64
	// Warmup is driven but not measured, Duration is.
	Warmup   time.Duration
	Duration time.Duration
	// Leases is how many there are to renew, get, list or watch.
	Leases int
	// Watchers is how many watches see every renewal, in mode watch.
	Watchers int
}

// Modes are the kinds of load.
var Modes = []string{"echo", "renew", "create", "get", "list", "watch"}

// Validate says what cannot be measured.
func (s Spec) Validate() error {
	switch {
	case !slices.Contains(Modes, s.Mode):
		return fmt.Errorf("mode %q is none of %s", s.Mode, strings.Join(Modes, ", "))
	case s.Workers < 1 || s.Connections < 0 || s.Rate < 0 || s.Warmup < 0:
		return errors.New("workers must be positive; connections, rate and warm-up not negative")
	case s.Duration <= 0:
		return errors.New("duration must be positive")
	case s.Leases < 1:
		return errors.New("leases must be positive")
	case s.Mode == "watch" && s.Watchers < 1:
		return errors.New("watchers must be positive")
	case s.Mode == "watch" && s.Protobuf:
		return errors.New("watches are measured in JSON")
	}
	return nil
}

// Measurement is what was found. Latencies of watch are from the intended start of a renewal to each watcher.
type Measurement struct {
	Mode       string        `json:"mode"`
	Operations uint64        `json:"operations"`
	Errors     int           `json:"errors"`
	FirstError string        `json:"firstError,omitempty"`
	Elapsed    time.Duration `json:"elapsed"`
	Rate       float64       `json:"rate"` // operations a second
	P50        time.Duration `json:"p50"`
	P90        time.Duration `json:"p90"`
	P99        time.Duration `json:"p99"`
	P999       time.Duration `json:"p999"`
	Max        time.Duration `json:"max"`
	CPU        time.Duration `json:"cpu"`             // of all nodes, in the measured time; 0 when not known
	CPUPerOp   time.Duration `json:"cpuPerOperation"` // 0 when not known
}

// workload is one mode's work.
type workload interface {
	// prepare brings the server to where the measuring can begin.
	prepare(ctx context.Context) error
	operate(ctx context.Context, worker int, intended time.Time) error
	// finish removes what should not stay, and returns latencies that were measured elsewhere than around operate.
	finish(ctx context.Context) (*histogram, error)
}

// Measure runs one load against the target. Mode echo measures an echo server of its own instead.
func Measure(ctx context.Context, target Target, spec Spec, progress io.Writer) (m Measurement, err error) {
	if err := spec.Validate(); err != nil {
		return Measurement{}, err
	}
	if spec.Connections == 0 {
		spec.Connections = min(spec.Workers, 256)
	}
	spec.Leases = max(spec.Leases, spec.Workers)
	if spec.Mode == "echo" {
		echo, stop, err := startEcho(ctx)
		if err != nil {
			return Measurement{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		target = echo
	}
	if len(target.URLs) == 0 {
		return Measurement{}, errors.New("no server: give --url or --kubeconfig")
	}
	cpu, err := target.meter()
	if err != nil {
		return Measurement{}, err
	}
	defer cpu.close()
	clients, err := target.dial(spec.Connections)
	if err != nil {
		return Measurement{}, err
	}
	defer func() {
		for _, c := range clients {
			c.http.CloseIdleConnections()
		}
	}()
	work := newWorkload(spec, clients)
	if err := work.prepare(ctx); err != nil {
		return Measurement{}, fmt.Errorf("prepare %s: %w", spec.Mode, err)
	}

	began := time.Now()
	tell := func(done int64) {
		elapsed := time.Since(began) - spec.Warmup
		fmt.Fprintf(progress, "%-6s %3.0fs %9.0f/s\n", spec.Mode, elapsed.Seconds(), float64(done)/elapsed.Seconds())
	}
	drive := load{workers: spec.Workers, rate: spec.Rate, warmup: spec.Warmup, duration: spec.Duration}
	tallies, measured, err := drive.drive(ctx, work.operate, cpu.mark, tell)
	elsewhere, finishErr := work.finish(ctx)
	if err := errors.Join(err, finishErr); err != nil {
		return Measurement{}, err
	}
	if cpu.unknown != nil {
		fmt.Fprintf(progress, "%v\n", cpu.unknown)
	}
	return summarize(spec.Mode, tallies, elsewhere, measured, cpu.between()), nil
}

func summarize(mode string, tallies []*tally, elsewhere *histogram, measured window, cpu time.Duration) Measurement {
	var latency histogram
	m := Measurement{Mode: mode, CPU: cpu, Elapsed: measured.ended.Sub(measured.started)}
	for _, t := range tallies {
		latency.merge(&t.latency)
		m.Errors += t.errors
		if m.FirstError == "" && t.first != nil {
			m.FirstError = t.first.Error()
		}
	}
	if elsewhere != nil {
		latency = *elsewhere
	}
	m.Operations = latency.count
	m.Rate = float64(latency.count) / m.Elapsed.Seconds()
	m.P50, m.P90, m.P99, m.P999 = latency.quantile(0.5), latency.quantile(0.9), latency.quantile(0.99), latency.quantile(0.999)
	m.Max = latency.max
	if latency.count > 0 {
		m.CPUPerOp = cpu / time.Duration(latency.count)
	}
	return m
}
