package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/hashicorp/raft"
)

// Raft's names for what it keeps in a stable store, and the one under which term and candidate are kept together.
const (
	keyCurrentTerm   = "CurrentTerm"
	keyVoteTerm      = "LastVoteTerm"
	keyVoteCandidate = "LastVoteCand"
	keyVote          = "LeaseholdVote"
)

// errKeyNotFound carries the text that raft compares with.
var errKeyNotFound = errors.New("not found")

// voteStore is a stable store that keeps a vote as one value. Raft stores the term of its vote first and the candidate
// after it; a node that dies in between remembers the *former* candidate for the new term and grants it that vote as a
// repetition, without looking at its log. So the term is held back until the candidate comes. Everything else goes
// through as it is.
type voteStore struct {
	raft.StableStore

	mu   sync.Mutex // guards held
	held *uint64    // term of a vote whose candidate has not come yet
}

func newVoteStore(inner raft.StableStore) *voteStore { return &voteStore{StableStore: inner} }

func (s *voteStore) SetUint64(key []byte, value uint64) error {
	if string(key) != keyVoteTerm {
		return s.StableStore.SetUint64(key, value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = &value
	return nil
}

func (s *voteStore) Set(key, value []byte) error {
	if string(key) != keyVoteCandidate {
		return s.StableStore.Set(key, value)
	}
	s.mu.Lock()
	held := s.held
	s.held = nil // also when the write fails: raft starts anew with the term
	s.mu.Unlock()
	if held == nil {
		return errors.New("store vote: candidate without a term")
	}
	return s.StableStore.Set([]byte(keyVote), encodeVote(*held, value))
}

func (s *voteStore) GetUint64(key []byte) (uint64, error) {
	if string(key) != keyVoteTerm {
		return s.StableStore.GetUint64(key)
	}
	term, _, err := s.vote()
	return term, err
}

func (s *voteStore) Get(key []byte) ([]byte, error) {
	if string(key) != keyVoteCandidate {
		return s.StableStore.Get(key)
	}
	_, candidate, err := s.vote()
	return candidate, err
}

// vote reads what is stored; a held term is not a vote yet.
func (s *voteStore) vote() (term uint64, candidate []byte, err error) {
	vote, err := s.StableStore.Get([]byte(keyVote))
	switch {
	case notFound(err) || err == nil && len(vote) == 0:
		return 0, nil, errKeyNotFound
	case err != nil:
		return 0, nil, err
	}
	return decodeVote(vote)
}

// encodeVote is the checksum of what follows, the term, and the candidate.
func encodeVote(term uint64, candidate []byte) []byte {
	vote := append(binary.BigEndian.AppendUint64(make([]byte, 4, 12+len(candidate)), term), candidate...)
	binary.BigEndian.PutUint32(vote, crc32.Checksum(vote[4:], castagnoli))
	return vote
}

func decodeVote(vote []byte) (term uint64, candidate []byte, err error) {
	if len(vote) < 12 || binary.BigEndian.Uint32(vote) != crc32.Checksum(vote[4:], castagnoli) {
		return 0, nil, fmt.Errorf("read vote: %w", errChecksum)
	}
	return binary.BigEndian.Uint64(vote[4:]), vote[12:], nil
}

// notFound reports whether err is a stable store's way to say that it has no such key.
func notFound(err error) bool { return err != nil && err.Error() == errKeyNotFound.Error() }
