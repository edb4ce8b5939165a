package e2e

import (
	"bufio"
	"io"
	"slices"
	"sync"
	"time"
)

// transcript is what a process prints, line by line.
type transcript struct {
	mu    sync.Mutex // guards lines and ended
	lines []string
	ended bool
	news  chan struct{} // gets a value after one of them has changed
}

func newTranscript() *transcript { return &transcript{news: make(chan struct{}, 1)} }

// read returns when the process has closed its end. It may not be waited for before that.
func (tr *transcript) read(from io.Reader) {
	scanner := bufio.NewScanner(from)
	for scanner.Scan() {
		tr.add(scanner.Text())
	}
	tr.mu.Lock()
	tr.ended = true
	tr.mu.Unlock()
	tr.tell()
}

func (tr *transcript) add(line string) {
	tr.mu.Lock()
	tr.lines = append(tr.lines, line)
	tr.mu.Unlock()
	tr.tell()
}

func (tr *transcript) tell() {
	select {
	case tr.news <- struct{}{}:
	default:
	}
}

// said returns what was printed so far, and whether that is all.
func (tr *transcript) said() (lines []string, ended bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.lines), tr.ended
}

// await waits until enough was printed, and tells whether it ever was.
func (tr *transcript) await(enough func(lines []string) bool) bool {
	deadline := time.After(patience)
	for {
		lines, ended := tr.said()
		if enough(lines) {
			return true
		}
		if ended {
			return false
		}
		select {
		case <-tr.news:
		case <-deadline:
			return false
		}
	}
}
