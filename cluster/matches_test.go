package cluster

import (
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
)

func TestMatchesKnowWhatAPeerHoldsInThisTerm(t *testing.T) {
	var m matches
	wake := make(chan struct{}, 1)
	woken := func() bool {
		select {
		case <-wake:
			return true
		default:
			return false
		}
	}
	upTo := func(term, index uint64) uint64 {
		known, knownTerm := m.upTo("b", term, index, 4, wake)
		if known > 0 {
			assert.Equal(t, uint64(4), knownTerm)
		}
		return known
	}
	request := func(term, prev uint64, entries ...uint64) *raft.AppendEntriesRequest {
		req := &raft.AppendEntriesRequest{Term: term, PrevLogEntry: prev, PrevLogTerm: 4}
		for _, index := range entries {
			req.Entries = append(req.Entries, &raft.Log{Index: index, Term: 4})
		}
		return req
	}
	success := func(term uint64) *raft.AppendEntriesResponse {
		return &raft.AppendEntriesResponse{Term: term, Success: true}
	}

	assert.Zero(t, upTo(7, 10), "nothing is known")
	m.noteAppend("b", request(7, 9, 10), &raft.AppendEntriesResponse{Term: 7})
	m.noteAppend("b", request(7, 9, 10), success(8))
	m.noteAppend("c", request(7, 9, 10), success(7))
	assert.Zero(t, upTo(7, 10), "no success of this peer in this term")
	assert.False(t, woken())

	m.noteAppend("b", request(7, 5, 6, 7), success(7))
	assert.Equal(t, uint64(7), upTo(7, 10))
	assert.False(t, woken(), "it has not come to 10")
	m.noteAppend("b", request(7, 10), success(7))
	assert.True(t, woken())
	assert.Equal(t, uint64(10), upTo(7, 10))
	assert.Equal(t, uint64(9), upTo(7, 9))
	m.noteAppend("b", request(7, 3, 4), success(7))
	assert.Equal(t, uint64(10), upTo(7, 10), "an older answer takes nothing back")

	assert.Zero(t, upTo(8, 10), "another leader may have been in between")
	m.noteAppend("b", request(8, 12), success(8))
	assert.True(t, woken())
	m.noteAppend("b", request(7, 20), success(7))
	assert.Equal(t, uint64(12), upTo(8, 20), "of a term that is over")
}
