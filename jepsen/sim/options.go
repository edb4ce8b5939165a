package sim

import (
	"errors"
	"io"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
)

// Options say what to simulate. The zero value of most is a good choice.
type Options struct {
	Seed  uint64
	Hours float64 // of simulated time
	Nodes int     // 0 is 3 and now and then 5, by the seed

	// Bubble is the simulated time of one bubble. 0 is an hour.
	Bubble time.Duration
	// Rate is about how many operations clients begin each simulated second; a bubble's own is drawn around it. 0 is DefaultRate.
	Rate float64
	// KeepGoing makes a failure not the end.
	KeepGoing bool

	// Keep is given each bubble, with a function that writes the lines of its history. It may be nil.
	Keep func(b Bubble, lines func(io.Writer) error) error
	// Logs gets what nodes log. nil is nowhere.
	Logs io.Writer
	// Progress is told of each bubble. It may be nil.
	Progress func(Bubble, Result)
}

// DefaultRate is a few operations a second, which is what a simulated second can bear without becoming dear.
const DefaultRate = 1

// Bubble is what became of one piece of simulated time.
type Bubble struct {
	Seed      uint64
	Nodes     int
	Simulated time.Duration
	Took      time.Duration
	Report    check.Report
}

// Result is what became of all.
type Result struct {
	Simulated  time.Duration
	Took       time.Duration
	Bubbles    int
	Operations int
	Unknown    int            // operations of which no answer told what became
	Events     int            // delivered by watches
	Faults     map[string]int // done, by kind
	Elections  int
	Restarts   int // of processes
	Snapshots  int // that nodes took or were sent
	Verdict    check.Verdict
	Failures   []Bubble // those that did not pass
	Sentence   string
}

func (o Options) validate() error {
	switch {
	case o.Hours <= 0:
		return errors.New("hours of simulated time must be above 0")
	case o.Nodes < 0 || o.Nodes == 1 || o.Nodes == 2:
		return errors.New("a cluster to do harm to has 3 nodes or more")
	case o.Rate < 0 || o.Bubble < 0:
		return errors.New("rate and bubble must not be below 0")
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Bubble == 0 {
		o.Bubble = time.Hour
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	return o
}
