package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// disk is what a node's data directory holds. Each write is one transaction: it is there whole or not at all, and once it
// has returned it stays. A disk belongs to one life of a node; the next one begins with what split leaves of it.
type disk struct {
	base time.Duration // how long a sync takes when nothing is wrong

	mu        sync.Mutex // guards what follows; never held while waiting
	rand      *rand.Rand
	condition nemesis.Disk
	full      bool
	content   content
	pending   map[*write]struct{} // under way
	taken     int                 // snapshots
	abandoned chan struct{}       // closed by split; never changes
}

// content is what is kept.
type content struct {
	logs        map[uint64]*raft.Log
	first, last uint64
	stable      map[string][]byte
	snapshots   []*snapshot // oldest first
}

// write is a transaction under way.
type write struct{ apply func(*content) }

func newDisk(base time.Duration, seed uint64) *disk {
	return &disk{
		base:    base,
		rand:    rand.New(rand.NewPCG(seed, 2)),
		content: content{logs: make(map[uint64]*raft.Log), stable: make(map[string][]byte)},
		pending: make(map[*write]struct{}),

		abandoned: make(chan struct{}),
	}
}

// split is the death of whoever used the disk: it returns the disk that the next life finds. Of each write that was under
// way chance decides whether it is there. What the dead still write goes nowhere, in no time.
func (d *disk) split() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.abandoned)
	return d.copy()
}

// with returns a disk that holds something else and is as well or ill as this one, which nobody uses.
func (d *disk) with(c content) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := d.copy()
	next.content = c
	return next
}

// clone returns a disk with the same on it as on one that nobody uses.
func (d *disk) clone() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.copy()
}

// copy returns a disk with the same on it. The caller holds mu.
func (d *disk) copy() *disk {
	next := newDisk(d.base, d.rand.Uint64())
	next.condition, next.full = d.condition, d.full
	next.content = content{
		logs:      maps.Clone(d.content.logs),
		first:     d.content.first,
		last:      d.content.last,
		stable:    maps.Clone(d.content.stable),
		snapshots: slices.Clone(d.content.snapshots),
	}
	for w := range d.pending {
		if d.rand.IntN(2) == 0 {
			w.apply(&next.content)
		}
	}
	return next
}

// snapshots says how many have been taken in this life.
func (d *disk) snapshots() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.taken
}

func (d *disk) set(c nemesis.Disk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.condition = c
}

func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// ails says whether something is wrong with the disk.
func (d *disk) ails() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full || d.condition != nemesis.Disk{}
}

// write makes a change that lasts. It takes the time that a sync takes.
func (d *disk) write(apply func(*content)) error {
	w := &write{apply}
	d.mu.Lock()
	condition := d.condition
	wait := condition.SyncDelay
	if d.base > 0 {
		wait += d.base/2 + time.Duration(d.rand.Int64N(int64(d.base)))
	}
	if condition.WriteError || d.full {
		d.mu.Unlock()
		return fmt.Errorf("simulated disk: %w", syscall.ENOSPC)
	}
	d.pending[w] = struct{}{}
	d.mu.Unlock()
	if wait > 0 {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-d.abandoned:
			timer.Stop()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, w)
	if condition.SyncError {
		return fmt.Errorf("simulated disk: %w", syscall.EIO)
	}
	apply(&d.content)
	return nil
}

// FirstIndex, LastIndex, GetLog, StoreLog, StoreLogs and DeleteRange are raft.LogStore.
func (d *disk) FirstIndex() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.content.first, nil
}

func (d *disk) LastIndex() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.content.last, nil
}

func (d *disk) GetLog(index uint64, log *raft.Log) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	stored, ok := d.content.logs[index]
	if !ok {
		return raft.ErrLogNotFound
	}
	*log = *stored
	return nil
}

func (d *disk) StoreLog(log *raft.Log) error { return d.StoreLogs([]*raft.Log{log}) }

func (d *disk) StoreLogs(logs []*raft.Log) error {
	copies := make([]raft.Log, len(logs))
	for i, log := range logs {
		copies[i] = *log // raft goes on with its own
	}
	return d.write(func(c *content) {
		for i := range copies {
			log := &copies[i]
			c.logs[log.Index] = log
			if c.first == 0 || log.Index < c.first {
				c.first = log.Index
			}
			c.last = max(c.last, log.Index)
		}
	})
}

func (d *disk) DeleteRange(from, to uint64) error {
	return d.write(func(c *content) {
		for index := max(from, c.first); index <= min(to, c.last); index++ {
			delete(c.logs, index)
		}
		c.bounds()
	})
}

// bounds finds the first and the last entry anew.
func (c *content) bounds() {
	for c.first <= c.last && c.logs[c.first] == nil {
		c.first++
	}
	for c.last >= c.first && c.last > 0 && c.logs[c.last] == nil {
		c.last--
	}
	if len(c.logs) == 0 {
		c.first, c.last = 0, 0
	}
}

// errKeyNotFound carries the text that Raft compares with.
var errKeyNotFound = errors.New("not found")

// Set, Get, SetUint64 and GetUint64 are raft.StableStore.
func (d *disk) Set(key, value []byte) error {
	name, kept := string(key), slices.Clone(value)
	return d.write(func(c *content) { c.stable[name] = kept })
}

func (d *disk) Get(key []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, ok := d.content.stable[string(key)]
	if !ok {
		return nil, errKeyNotFound
	}
	return slices.Clone(value), nil
}

func (d *disk) SetUint64(key []byte, value uint64) error {
	return d.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

func (d *disk) GetUint64(key []byte) (uint64, error) {
	value, err := d.Get(key)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(value), nil
}

var (
	_ raft.LogStore    = (*disk)(nil)
	_ raft.StableStore = (*disk)(nil)
)
