package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"

	"github.com/hashicorp/raft"
)

// crashOnly ends the process at the first store error. After a failed write memory and disk may disagree: bolt may have
// written an entry that raft does not count, and raft goes on as if it had not, or panics later somewhere else. Ended at
// once, it is an ordinary uncommitted tail at the next start.
type crashOnly struct {
	path  string
	watch func(operation string) (done func())
	fatal func(error)
}

// call runs one watched store operation. It returns only nil or an error that is an answer.
func (c crashOnly) call(operation string, f func() error) error {
	done := c.watch(operation + " in " + c.path)
	err := f()
	done()
	return c.check(operation, err)
}

// check ends the process if err is not an answer, such as that there is no such entry.
func (c crashOnly) check(operation string, err error) error {
	if err == nil || errors.Is(err, raft.ErrLogNotFound) || notFound(err) {
		return err
	}
	c.fatal(fmt.Errorf("%s in %s: %w", operation, c.path, err))
	// Where fatal returns (a test that records it), this goroutine still must not go on.
	runtime.Goexit()
	return err
}

type crashLog struct {
	inner raft.LogStore
	crash crashOnly
}

func (s crashLog) FirstIndex() (index uint64, err error) {
	err = s.crash.call("read first log index", func() error { index, err = s.inner.FirstIndex(); return err })
	return index, err
}

func (s crashLog) LastIndex() (index uint64, err error) {
	err = s.crash.call("read last log index", func() error { index, err = s.inner.LastIndex(); return err })
	return index, err
}

func (s crashLog) GetLog(index uint64, log *raft.Log) error {
	return s.crash.call("read log entry", func() error { return s.inner.GetLog(index, log) })
}

func (s crashLog) StoreLog(log *raft.Log) error {
	return s.crash.call("write log entry", func() error { return s.inner.StoreLog(log) })
}

func (s crashLog) StoreLogs(logs []*raft.Log) error {
	return s.crash.call("write log entries", func() error { return s.inner.StoreLogs(logs) })
}

func (s crashLog) DeleteRange(first, last uint64) error {
	return s.crash.call("delete log entries", func() error { return s.inner.DeleteRange(first, last) })
}

type crashStable struct {
	inner raft.StableStore
	crash crashOnly
}

func (s crashStable) Set(key, value []byte) error {
	return s.crash.call("write "+string(key), func() error { return s.inner.Set(key, value) })
}

func (s crashStable) Get(key []byte) (value []byte, err error) {
	err = s.crash.call("read "+string(key), func() error { value, err = s.inner.Get(key); return err })
	return value, err
}

func (s crashStable) SetUint64(key []byte, value uint64) error {
	return s.crash.call("write "+string(key), func() error { return s.inner.SetUint64(key, value) })
}

func (s crashStable) GetUint64(key []byte) (value uint64, err error) {
	err = s.crash.call("read "+string(key), func() error { value, err = s.inner.GetUint64(key); return err })
	return value, err
}

// crashSnapshots is not watched: a large snapshot may take longer to sync than a log entry, off the main loop.
type crashSnapshots struct {
	inner raft.SnapshotStore
	crash crashOnly
}

func (s crashSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.inner.Create(version, index, term, configuration, configurationIndex, trans)
	if err := s.crash.check("create snapshot", err); err != nil {
		return nil, err
	}
	return crashSink{sink, s.crash}, nil
}

func (s crashSnapshots) List() ([]*raft.SnapshotMeta, error) {
	listed, err := s.inner.List()
	return listed, s.crash.check("list snapshots", err)
}

// Open lets pass that a snapshot does not exist: it may have been replaced since it was listed.
func (s crashSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, data, err := s.inner.Open(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err != nil {
		err = damaged(err)
	}
	if err := s.crash.check("open snapshot "+id, err); err != nil {
		return nil, nil, err
	}
	return meta, crashReader{data, id, s.crash}, nil
}

type crashSink struct {
	raft.SnapshotSink
	crash crashOnly
}

func (s crashSink) Write(p []byte) (int, error) {
	n, err := s.SnapshotSink.Write(p)
	return n, s.crash.check("write snapshot "+s.ID(), err)
}

func (s crashSink) Close() error {
	return s.crash.check("finish snapshot "+s.ID(), s.SnapshotSink.Close())
}

func (s crashSink) Cancel() error {
	return s.crash.check("cancel snapshot "+s.ID(), s.SnapshotSink.Cancel())
}

type crashReader struct {
	io.ReadCloser
	id    string
	crash crashOnly
}

func (r crashReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err == io.EOF {
		return n, err
	}
	return n, r.crash.check("read snapshot "+r.id, err)
}
