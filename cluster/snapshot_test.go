package cluster

import (
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm"
)

func TestTrailingEntriesAreCountedByTheSizeOfLateOnes(t *testing.T) {
	s := &snapshots{}
	machine := counted{fsm.New(fsm.Options{}), s}
	apply := func(entries, size int) {
		for range entries {
			machine.snapshots.count1(&raft.Log{Data: make([]byte, size)})
		}
	}
	require.EqualValues(t, minTrailing, s.trailing(1<<20))
	apply(10_000, 1<<10)
	require.EqualValues(t, 1<<10, s.trailing(1<<20))
	s.taken(s.bytes.Load(), s.entries.Load())
	apply(20, 1<<18)
	assert.EqualValues(t, minTrailing, s.trailing(1<<20), "large entries: few stay, whatever came before")
	s.taken(s.bytes.Load(), s.entries.Load())
	apply(1000, 1<<8)
	assert.EqualValues(t, 1<<12, s.trailing(1<<20), "small ones: many stay")
}
