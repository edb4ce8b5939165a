package cluster

import (
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// pipeline is one of raft's open streams of AppendEntries, seen by the same eyes as single calls.
type pipeline struct {
	raft.AppendPipeline
	t         *transport
	id        raft.ServerID
	responses chan raft.AppendFuture

	closing sync.Once
	closed  chan struct{}
	done    chan struct{} // closed when forward has returned
}

func (t *transport) AppendEntriesPipeline(id raft.ServerID, _ raft.ServerAddress) (raft.AppendPipeline, error) {
	if err := t.mutedErr(); err != nil {
		return nil, err
	}
	inner, err := t.inner.AppendEntriesPipeline(id, raft.ServerAddress(id))
	if err != nil {
		t.holdback.failed(id)
		return nil, err
	}
	p := &pipeline{
		AppendPipeline: inner,
		t:              t,
		id:             id,
		responses:      make(chan raft.AppendFuture),
		closed:         make(chan struct{}),
		done:           make(chan struct{}),
	}
	go p.forward()
	return p, nil
}

// forward notes each answer before raft sees it. A future's start is the time when its request was handed over.
func (p *pipeline) forward() {
	defer close(p.done)
	for {
		select {
		case future := <-p.AppendPipeline.Consumer():
			if future.Error() == nil {
				p.t.matches.noteAppend(p.id, future.Request(), future.Response())
				p.t.acks.note(p.id, future.Request(), future.Response(), future.Start())
				if future.Response().Success {
					p.t.installs.progressed(p.id)
				}
			}
			select {
			case p.responses <- future:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}

func (p *pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	if err := p.t.mutedErr(); err != nil {
		return nil, fmt.Errorf("append to %s: %w", p.id, err)
	}
	trim(req)
	return p.AppendPipeline.AppendEntries(req, resp)
}

func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.responses }

func (p *pipeline) Close() error {
	p.closing.Do(func() { close(p.closed) })
	err := p.AppendPipeline.Close()
	<-p.done
	return err
}
