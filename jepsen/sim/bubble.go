package sim

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// withTest calls f with a test, without which there is no bubble. Outside of go test it makes one: package testing is told
// of a test that is f. While f runs nothing else may be told to package testing.
func withTest(f func(*testing.T)) error {
	if !flag.Parsed() {
		// The command's flags are not package flag's. What testing reads there shall have its defaults.
		testing.Init()
		if err := flag.CommandLine.Parse(nil); err != nil {
			return err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	ran := false
	m := testing.MainStart(alone{}, []testing.InternalTest{{Name: "simulation", F: func(t *testing.T) {
		f(t)
		ran = true
		os.Stdout = null // testing is about to say PASS
	}}}, nil, nil, nil)
	m.Run()
	if !ran {
		return errors.New("the simulation did not come to its end")
	}
	return nil
}

// inBubble runs f in a bubble and returns when f and all goroutines that it started have ended. A goroutine that never
// ends is an error, which tells where it is, unless it is of a kind that is known.
func inBubble(t *testing.T, f func()) (failure error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if left := left(); len(left) > 0 {
			failure = fmt.Errorf("the bubble ended badly: %v\n%s", cause, strings.Join(left[:min(len(left), maxLeft)], "\n\n"))
		}
	}()
	synctest.Test(t, func(*testing.T) { f() })
	return nil
}

// orphan is where a goroutine may be left behind: Raft never answers for an entry that it had not taken up yet when its
// process ended itself. In life that ends the goroutine too.
const orphan = "raft.(*deferError).Error("

// left are the stacks of the goroutines that are left in bubbles, but for orphans.
func left() []string {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	var stacks []string
	for _, stack := range strings.Split(string(text), "\n\n") {
		if strings.Contains(stack, "synctest bubble") && !strings.Contains(stack, orphan) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// maxLeft is how many goroutines left behind are told of.
const maxLeft = 5

// alone is all that package testing wants to know of who runs it.
type alone struct{}

func (alone) ImportPath() string                          { return "" }
func (alone) ModulePath() string                          { return "" }
func (alone) MatchString(string, string) (bool, error)    { return true, nil }
func (alone) SetPanicOnExit0(bool)                        {}
func (alone) StartCPUProfile(io.Writer) error             { return nil }
func (alone) StopCPUProfile()                             {}
func (alone) StartTestLog(io.Writer)                      {}
func (alone) StopTestLog() error                          { return nil }
func (alone) WriteProfileTo(string, io.Writer, int) error { return nil }
func (alone) ResetCoverage()                              {}
func (alone) SnapshotCoverage()                           {}
func (alone) CheckCorpus([]any, []reflect.Type) error     { return nil }
func (alone) RunFuzzWorker(func(corpusEntry) error) error { return nil }
func (alone) ReadCorpus(string, []reflect.Type) ([]corpusEntry, error) {
	return nil, nil
}

func (alone) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []corpusEntry, []reflect.Type, string, string) error {
	return nil
}

func (alone) InitRuntimeCoverage() (mode string, tearDown func(string, string) (string, error), snapcov func() float64) {
	return "", nil, nil
}

// corpusEntry is package testing's.
type corpusEntry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}
