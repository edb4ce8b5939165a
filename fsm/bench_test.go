package fsm

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// leaseBytes is about the size of a stored Lease with one holder and its managed fields.
const leaseBytes = 400

func leaseKey(i int) Key {
	return Key{"leases", "kube-node-lease", fmt.Sprintf("node-%06d.example.com", i)}
}

// filled returns a machine that holds n leases, and the seq that its session used last.
func filled(b testing.TB, n int) (*Machine, uint64) {
	m := opened(b)
	m.options = Options{TailEvents: 1000}
	seq := uint64(0)
	object := make([]byte, leaseBytes)
	for seq < uint64(n) {
		var commands []Command
		for range min(1000, n-int(seq)) {
			seq++
			commands = append(commands, Command{
				Op: OpCreate, Session: sessionOne, Seq: seq, Mark: seq - 1,
				Key: leaseKey(int(seq)), UID: "3f2b7c1e-0000-4000-8000-000000000000", Object: object,
			})
		}
		index, _ := m.Applied()
		m.Apply(entry(index+1, 1, commands...))
	}
	return m, seq
}

// renewals returns entries that update leases in random order, size to an entry, from index on.
func renewals(objects, size, count int, seq, index uint64) []*raft.Log {
	random := rand.New(rand.NewPCG(1, 2))
	object := make([]byte, leaseBytes)
	logs := make([]*raft.Log, count)
	commands := make([]Command, size)
	for i := range logs {
		for j := range commands {
			seq++
			mark := max(seq, 500) - 500
			commands[j] = Command{
				Op: OpUpdate, Session: sessionOne, Seq: seq, Mark: mark, Key: leaseKey(1 + random.IntN(objects)),
				Object: object, Expect: Expect{UID: "3f2b7c1e-0000-4000-8000-000000000000"},
			}
		}
		index++
		logs[i] = entry(index, 1, commands...)
	}
	return logs
}

// threadTime returns the processor time of the calling thread, which a busy machine distorts less than the clock's; 0 where
// the system does not tell.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if syscall.Getrusage(thread, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkApplyBatch measures one update: an operation of the benchmark is one command, whatever the batch's size.
func BenchmarkApplyBatch(b *testing.B) {
	for _, objects := range []int{1000, 100_000} {
		m, seq := filled(b, objects)
		for _, size := range []int{1, 10, 64, 200} {
			b.Run(fmt.Sprintf("objects=%d/batch=%d", objects, size), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				b.ReportAllocs()
				left := b.N
				var spent time.Duration
				for left > 0 {
					b.StopTimer()
					index, _ := m.Applied()
					logs := renewals(objects, size, min(4000, (left+size-1)/size), seq, index)
					seq += uint64(size * len(logs))
					left -= size * len(logs)
					b.StartTimer()
					began := threadTime()
					for _, log := range logs {
						m.ApplyBatch([]*raft.Log{log})
					}
					spent += threadTime() - began
					b.StopTimer()
					m.Apply(entry(index+uint64(len(logs))+1, 1, Command{Op: OpCompact, Revision: m.State().Revision() - 1000}))
					b.StartTimer()
				}
				b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// BenchmarkApplyWaiters has 64 callers wait for each batch of 64 updates, each for the revision of its own.
func BenchmarkApplyWaiters(b *testing.B) {
	m, seq := filled(b, 1000)
	const waiting = 64
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		index, _ := m.Applied()
		logs := renewals(1000, waiting, 1, seq, index)
		seq += waiting
		revision := m.State().Revision()
		var group sync.WaitGroup
		for i := range uint64(waiting) {
			group.Go(func() { _ = m.WaitRevision(ctx, revision+1+i) })
		}
		for m.revisions.count() < waiting {
		}
		b.StartTimer()
		m.ApplyBatch(logs)
		group.Wait()
	}
}

func (w *waiters) count() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, group := range w.groups {
		n += group.size
	}
	return n
}

func BenchmarkCreateDelete(b *testing.B) {
	m, seq := filled(b, 100_000)
	key := Key{"leases", "kube-node-lease", "node-050000.example.net"}
	b.ReportAllocs()
	for b.Loop() {
		index, _ := m.Applied()
		seq += 2
		m.Apply(entry(index+1, 1,
			Command{Op: OpCreate, Session: sessionOne, Seq: seq - 1, Mark: seq - 2, Key: key, Object: make([]byte, leaseBytes)},
			Command{Op: OpDelete, Session: sessionOne, Seq: seq, Mark: seq - 2, Key: key}))
	}
}

func BenchmarkAppendCommand(b *testing.B) {
	command := update(7_000_000, "node-000001.example.com", string(make([]byte, leaseBytes)))
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendCommand(dst[:0], &command)
	}
}

func BenchmarkDecodeCommand(b *testing.B) {
	command := update(7_000_000, "node-000001.example.com", string(make([]byte, leaseBytes)))
	data := AppendCommand(nil, &command)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := DecodeCommand(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHistoryAfter is what a watch does when it is woken, and what one does that has far to catch up.
func BenchmarkHistoryAfter(b *testing.B) {
	m, _ := filled(b, 100_000)
	newest := m.State().Revision()
	for _, behind := range []uint64{0, 1, 50_000} {
		b.Run(fmt.Sprintf("behind=%d", behind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := m.History().After(newest-behind, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHistoryAt(b *testing.B) {
	for _, behind := range []uint64{100, 10_000, 60_000} {
		b.Run(fmt.Sprintf("behind=%d", behind), func(b *testing.B) {
			m, seq := filled(b, 10_000)
			index, _ := m.Applied()
			m.ApplyBatch(renewals(10_000, 200, 350, seq, index))
			v := m.view.Load()
			b.ReportAllocs()
			for b.Loop() {
				v.rewind(v.state.revision - behind)
			}
		})
	}
}

func BenchmarkScan2000(b *testing.B) {
	m, _ := filled(b, 2000)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for object := range m.State().Scan("leases", "kube-node-lease", "") {
			n += len(object.Data)
		}
		if n != 2000*leaseBytes {
			b.Fatal(n)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	m, _ := filled(b, 100_000)
	after := leaseKey(50_000).String()
	b.ReportAllocs()
	for b.Loop() {
		if n := m.State().Count("leases", "", after); n != 50_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	m, _ := filled(b, 100_000)
	keys := make([]Key, 4096)
	for i := range keys {
		keys[i] = leaseKey(1 + rand.IntN(100_000))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if m.State().Get(keys[i%len(keys)]) == nil {
			b.Fatal(keys[i%len(keys)])
		}
		i++
	}
}

func BenchmarkSnapshot(b *testing.B) {
	m, _ := filled(b, 100_000)
	b.Run("persist", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := m.share().write(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	snapshot := snapshotOf(b, m)
	b.Run("restore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Restore(readCloser(snapshot)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Hash()
		}
	})
}
