package testbed

import (
	"errors"
	"runtime"
)

// launcher is one thread that starts a node's processes. The kernel kills a child when the thread that started it ends,
// and a child is born in that thread's namespaces; so every node has a thread of its own, which lives as long as the
// testbed.
type launcher struct {
	work  chan func()
	quit  chan struct{}
	ended chan struct{}
}

// errPlaceClosed is what comes of a task that comes too late.
var errPlaceClosed = errors.New("the testbed is closed")

// startLauncher makes the thread and has it prepare itself. prepare may be nil.
func startLauncher(prepare func() error) (*launcher, error) {
	l := &launcher{work: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	go l.run()
	if prepare == nil {
		return l, nil
	}
	if err := l.do(prepare); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *launcher) run() {
	defer close(l.ended)
	runtime.LockOSThread() // for good: the thread ends with the goroutine, and its namespaces with it
	for {
		select {
		case task := <-l.work:
			task()
		case <-l.quit:
			return
		}
	}
}

// do has the thread do a task, and returns what it returns.
func (l *launcher) do(task func() error) error {
	done := make(chan error, 1)
	select {
	case l.work <- func() { done <- task() }:
		return <-done
	case <-l.quit:
		return errPlaceClosed
	}
}

// close ends the thread once it has done the task at hand.
func (l *launcher) close() {
	close(l.quit)
	<-l.ended
}
