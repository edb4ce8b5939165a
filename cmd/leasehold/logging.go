package main

import (
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/leasehold/leasehold/httpapi/wallclock"
)

// newLogger returns the logger that each room gets a named child of.
func newLogger(out io.Writer, level, format string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Output:     out,
		Level:      hclog.LevelFromString(level),
		JSONFormat: format == "json",
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
		TimeFn:     wallclock.Now,
	})
}
