package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leasehold/leasehold/cmd/leasehold/kubeconfig"
)

// Suite is rounds of all cases, taken in turn so that a machine that is slow for a while is slow for all of them.
type Suite struct {
	Rounds   int
	Warmup   time.Duration
	Duration time.Duration
	BasePort int
	// Large adds renewals among 100,000 leases, which shows whether their cost is flat.
	Large bool
}

// suiteCase is one line of the suite's table.
type suiteCase struct {
	name, yardstick string
	spec            Spec
}

func (s Suite) cases() []suiteCase {
	cases := []suiteCase{
		{"echo, 64 workers", "echo, 64 workers", Spec{Mode: "echo", Workers: 64, Leases: 1000}},
		{"renew, 64 workers", "echo, 64 workers", Spec{Mode: "renew", Workers: 64, Leases: 1000}},
		{"renew, protobuf", "echo, 64 workers", Spec{Mode: "renew", Workers: 64, Leases: 1000, Protobuf: true}},
		{"create, 64 workers", "echo, 64 workers", Spec{Mode: "create", Workers: 64, Leases: 1}},
		{"get, 64 workers", "echo, 64 workers", Spec{Mode: "get", Workers: 64, Leases: 1000}},
		{"echo, 1 worker", "echo, 1 worker", Spec{Mode: "echo", Workers: 1, Leases: 1000}},
		{"renew, 1 worker", "echo, 1 worker", Spec{Mode: "renew", Workers: 1, Leases: 1000}},
		{"list of 2000", "echo, 64 workers", Spec{Mode: "list", Workers: 4, Leases: 2000}},
		{"watch, 100 watchers", "echo, 64 workers", Spec{Mode: "watch", Workers: 8, Leases: 100, Watchers: 100, Rate: 200}},
	}
	if s.Large {
		cases = append(cases, suiteCase{"renew of 100000", "echo, 64 workers", Spec{Mode: "renew", Workers: 64, Leases: 100_000}})
	}
	return cases
}

// Run starts a development cluster of three nodes, measures, prints each measurement as it is made to raw and the table
// of medians to out, and stops the cluster.
func (s Suite) Run(ctx context.Context, out, raw io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "leasehold-bench-")
	if err != nil {
		return err
	}
	stop, err := startDev(ctx, dir, s.BasePort, raw)
	if err != nil {
		return err // the directory stays: its logs tell why
	}
	defer func() {
		err = errors.Join(err, stop(), os.RemoveAll(dir))
	}()
	file, err := kubeconfig.Read(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		return err
	}
	target, err := TargetOf(file)
	if err != nil {
		return err
	}
	cases := s.cases()
	found := make(map[string][]Measurement, len(cases))
	for round := 1; round <= s.Rounds; round++ {
		fmt.Fprintf(raw, "round %d of %d\n", round, s.Rounds)
		for _, c := range cases {
			c.spec.Warmup, c.spec.Duration = s.Warmup, s.Duration
			m, err := Measure(ctx, target, c.spec, io.Discard)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			found[c.name] = append(found[c.name], m)
			fmt.Fprintf(raw, "  %-20s %8.0f ops/s  p50 %s  p99 %s  CPU %s/op  errors %d %s\n",
				c.name, m.Rate, short(m.P50), short(m.P99), short(m.CPUPerOp), m.Errors, m.FirstError)
		}
	}
	var rows []row
	yardsticks := map[string]Measurement{}
	for _, c := range cases {
		m := median(found[c.name])
		rows = append(rows, row{c.name, c.yardstick, m})
		if c.spec.Mode == "echo" {
			yardsticks[c.name] = m
		}
	}
	fmt.Fprintf(out, "medians of %d rounds of %s each; CPU is that of all nodes together\n", s.Rounds, s.Duration)
	return printTable(out, rows, yardsticks)
}

// TargetOf returns the nodes of a kubeconfig, or its current context if it names no nodes.
func TargetOf(file kubeconfig.File) (Target, error) {
	contexts := file.Nodes()
	if len(contexts) == 0 {
		current, err := file.Context("")
		if err != nil {
			return Target{}, err
		}
		contexts = []kubeconfig.Context{current}
	}
	target := Target{Token: contexts[0].Token, TLS: contexts[0].TLS}
	for _, context := range contexts {
		target.URLs = append(target.URLs, context.URL)
	}
	return target, nil
}

// startDev starts a development cluster as a process and returns once it is ready. stop interrupts it and waits.
func startDev(ctx context.Context, dir string, basePort int, log io.Writer) (stop func() error, err error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dev := exec.Command(binary, "dev", "--dir", dir, "--base-port", strconv.Itoa(basePort))
	dev.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is ours to pass on
	dev.Stderr = log
	stdout, err := dev.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := dev.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		_ = dev.Process.Signal(os.Interrupt) // fails only when it has ended
		_, _ = io.Copy(io.Discard, stdout)   // ends with the process
		return dev.Wait()
	}
	undo := context.AfterFunc(ctx, func() { _ = dev.Process.Signal(os.Interrupt) })
	defer undo()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		if strings.HasPrefix(lines.Text(), "ready") {
			return stop, nil
		}
	}
	return nil, errors.Join(errors.New("the cluster did not become ready"), dev.Wait(), ctx.Err())
}
