package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// printTable writes measurements as a table, with what they are of the yardstick's if there is one.
func printTable(out io.Writer, rows []row, yardsticks map[string]Measurement) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "case\tops/s\tof echo\tp50\tp90\tp99\tp99.9\tCPU/op\tof echo\terrors\t")
	for _, r := range rows {
		m, rate, cpu, perOp := r.measured, "-", "-", "-"
		if m.CPUPerOp > 0 {
			perOp = short(m.CPUPerOp)
		}
		if y, ok := yardsticks[r.yardstick]; ok && y.Operations > 0 && m.Operations > 0 {
			rate = fmt.Sprintf("%.3f", m.Rate/y.Rate)
			if y.CPUPerOp > 0 && m.CPUPerOp > 0 {
				cpu = fmt.Sprintf("%.2f", float64(m.CPUPerOp)/float64(y.CPUPerOp))
			}
		}
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", r.name, m.Rate, rate,
			short(m.P50), short(m.P90), short(m.P99), short(m.P999), perOp, cpu, m.Errors)
	}
	return table.Flush()
}

// row is one line of a table. yardstick names the row that it is compared with.
type row struct {
	name, yardstick string
	measured        Measurement
}

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.0fus", float64(d)/float64(time.Microsecond))
	}
}

// median returns, for each figure by itself, the median of several measurements of one case; errors are summed.
func median(all []Measurement) Measurement {
	if len(all) == 0 {
		return Measurement{}
	}
	m := Measurement{Mode: all[0].Mode, Elapsed: all[0].Elapsed}
	for _, one := range all {
		m.Errors += one.Errors
		if m.FirstError == "" {
			m.FirstError = one.FirstError
		}
	}
	durations := func(of func(*Measurement) *time.Duration) {
		values := make([]time.Duration, len(all))
		for i := range all {
			values[i] = *of(&all[i])
		}
		*of(&m) = middle(values)
	}
	durations(func(m *Measurement) *time.Duration { return &m.P50 })
	durations(func(m *Measurement) *time.Duration { return &m.P90 })
	durations(func(m *Measurement) *time.Duration { return &m.P99 })
	durations(func(m *Measurement) *time.Duration { return &m.P999 })
	durations(func(m *Measurement) *time.Duration { return &m.Max })
	durations(func(m *Measurement) *time.Duration { return &m.CPU })
	durations(func(m *Measurement) *time.Duration { return &m.CPUPerOp })
	rates, operations := make([]float64, len(all)), make([]uint64, len(all))
	for i := range all {
		rates[i], operations[i] = all[i].Rate, all[i].Operations
	}
	m.Rate, m.Operations = middle(rates), middle(operations)
	return m
}

// middle returns the median, the lower one of two.
func middle[T time.Duration | float64 | uint64](values []T) T {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
