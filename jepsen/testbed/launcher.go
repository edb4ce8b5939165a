package testbed

import "runtime"

// launcher is one thread that starts a node's processes. The kernel kills a child when the thread that started it ends,
// and a child is born in that thread's namespaces; so every node has a thread of its own, which lives as long as the
// testbed.
type launcher struct {
	work  chan func()
	ended chan struct{}
}

// startLauncher makes the thread and has it prepare itself. prepare may be nil.
func startLauncher(prepare func() error) (*launcher, error) {
	l := &launcher{work: make(chan func()), ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and its namespaces with it
		for task := range l.work {
			task()
		}
	}()
	if prepare == nil {
		return l, nil
	}
	if err := l.do(prepare); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// do has the thread do a task, and returns what it returns.
func (l *launcher) do(task func() error) error {
	done := make(chan error, 1)
	l.work <- func() { done <- task() }
	return <-done
}

// close ends the thread. Nothing may be doing or begin a task.
func (l *launcher) close() {
	close(l.work)
	<-l.ended
}
