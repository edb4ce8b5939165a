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
	nodes []*call
	marks []time.Duration
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
	var reply bytes.Buffer
	for _, node := range m.nodes {
		if err := node.send(ctx, nil, &reply); err != nil {
			return fmt.Errorf("read %s: %w", node.url, err)
		}
		used, err := cpuSeconds(reply.String())
		if err != nil {
			return fmt.Errorf("read %s: %w", node.url, err)
		}
		sum += used
	}
	m.marks = append(m.marks, sum)
	return nil
}

// between returns the CPU used between the last two marks.
func (m *meter) between() time.Duration {
	if len(m.marks) < 2 {
		return 0
	}
	return m.marks[len(m.marks)-1] - m.marks[len(m.marks)-2]
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
