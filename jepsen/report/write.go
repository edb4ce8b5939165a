package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasehold/leasehold/jepsen/check"
	"github.com/leasehold/leasehold/jepsen/history"
)

// Write writes results.json, env.json, the pictures and index.html into a run's folder, over what was there. What else
// lies in the folder (history.jsonl, schedule.json, timeline.html, the nodes' logs) is linked from the page, and so must
// be there before.
func Write(dir string, h *history.History, verdict check.Report, run Run) error {
	if run.Name == "" {
		if whole, err := filepath.Abs(dir); err == nil {
			run.Name = filepath.Base(whole)
		}
	}
	results := summarize(h, verdict, run)
	if err := writeJSON(filepath.Join(dir, ResultsFile), results); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := writeJSON(filepath.Join(dir, "env.json"), run.Environment); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, picture := range []struct {
		name string
		data []byte
	}{
		{"latency.svg", latency(h)},
		{"rate.svg", rate(h)},
		{"availability.svg", availability(results.Gaps, h)},
		{"lag.svg", lag(h)},
	} {
		if err := os.WriteFile(filepath.Join(dir, picture.name), picture.data, 0o644); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	page, err := index(dir, h, results)
	if err != nil {
		return fmt.Errorf("report: write the page: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), page, 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
