package jepsen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of what lies in a run's folder besides the report.
const (
	historyFile  = "history.jsonl"
	scheduleFile = "schedule.json"
	timelineFile = "timeline.html"
)

// makeFolder makes the folder of a run in a store. Its name begins with the time, so that the newest sorts last.
func makeFolder(store, title string, now time.Time) (string, error) {
	name := now.UTC().Format("20060102T150405Z") + "-" + safe(title)
	for n := 1; ; n++ {
		dir := filepath.Join(store, name)
		if n > 1 {
			dir += fmt.Sprintf("-%d", n)
		}
		if err := os.MkdirAll(store, 0o755); err != nil {
			return "", fmt.Errorf("make the store: %w", err)
		}
		err := os.Mkdir(dir, 0o755)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("make the run's folder: %w", err)
		}
		return filepath.Abs(dir)
	}
}

// safe leaves nothing in a name that a shell or a file system minds.
func safe(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		case r == ',', r == '+', r == '_', r == ' ':
			return '-'
		}
		return -1
	}, title)
}
