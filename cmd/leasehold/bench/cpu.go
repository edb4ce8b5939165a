package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// meter reads how much CPU the measured processes have used.
type meter struct {
	nodes   []*call
	marks   []time.Duration
	unknown error // why some node's CPU could not be read: it may have been killed, as part of the experiment
}

func (t Target) meter() (*meter, error) {
	clients, err := t.dial(len(t.URLs))
	if err != nil {
		return nil, err
	}
	m := &meter{}
	for _, c := range clients {
		m.nodes = append(m.nodes, c.prepare("GET", "/metrics", "", "text/plain"))
	}
	return m, nil
}

// mark notes the CPU used until now by all nodes together.
func (m *meter) mark(ctx context.Context) error {
	var sum time.Duration
	for _, node := range m.nodes {
		used, err := readCPU(ctx, node)
		if err != nil {
			m.unknown = fmt.Errorf("CPU of %s: %w", node.url.Host, err)
		}
		sum += used
	}
	m.marks = append(m.marks, sum)
	return ctx.Err()
}

func readCPU(ctx context.Context, node *call) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var reply bytes.Buffer
	if err := node.send(ctx, nil, &reply); err != nil {
		return 0, err
	}
	return cpuSeconds(reply.String())
}

// between returns the CPU used between the last two marks, 0 if it is not known of all nodes: a node that was started
// anew meanwhile counts from 0 again.
func (m *meter) between() time.Duration {
	if len(m.marks) < 2 || m.unknown != nil {
		return 0
	}
	return max(0, m.marks[len(m.marks)-1]-m.marks[len(m.marks)-2])
}

func (m *meter) close() {
	for _, node := range m.nodes {
		node.client.http.CloseIdleConnections()
	}
}

// cpuSeconds finds process_cpu_seconds_total in Prometheus' text form.
func cpuSeconds(metrics string) (time.Duration, error) {
	for line := range strings.Lines(metrics) {
		value, ok := strings.CutPrefix(line, "process_cpu_seconds_total ")
		if !ok {
			continue
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return time.Duration(seconds * float64(time.Second)), err
	}
	return 0, errors.New("no process_cpu_seconds_total: the CPU of this server cannot be told")
}
