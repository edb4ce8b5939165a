package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

var (
	errMuted     = errors.New("outbound raft traffic is muted: this node's disk hangs")
	errReleased  = errors.New("peer is unreachable and this node no longer leads")
	errStaleTerm = errors.New("peer is in a newer term")
	errRefused   = errors.New("peer does not hold the entry that the probe names")
)

// innerTransport is what a transport must bring. A transport without pre-vote would switch pre-vote off in silence.
type innerTransport interface {
	raft.Transport
	raft.WithPreVote
	raft.WithClose
}

var _ innerTransport = (*transport)(nil)

// transport stands between raft and the network and guards against faults of the library, each described in the file
// that answers it: this one (heartbeats, addresses), acks.go, holdback.go, installs.go, stale.go and trim.go.
//
// A node's address in raft is its ID, whatever the inner transport says: raft remembers a vote by the candidate's
// address, so that two nodes that swap addresses could get two votes of one node in one term.
type transport struct {
	inner  innerTransport
	self   raft.ServerID
	logger hclog.Logger

	acks     acks
	matches  matches
	holdback holdback
	installs installs

	muting sync.RWMutex // guards muted; never held across a call
	muted  bool

	closing sync.Once
	closed  chan struct{}
}

func newTransport(inner innerTransport, self raft.ServerID, logger hclog.Logger) *transport {
	t := &transport{inner: inner, self: self, logger: logger, closed: make(chan struct{})}
	t.holdback.closed = t.closed
	t.installs.closed = t.closed
	t.installs.logger = logger
	return t
}

// attach tells the transport whom it works for, once there is such a one. Before that no call is ever held back.
func (t *transport) attach(r *raft.Raft) {
	leads := func(peer raft.ServerID, term uint64) bool {
		if r.State() != raft.Leader || r.CurrentTerm() != term {
			return false
		}
		for _, server := range r.GetConfiguration().Configuration().Servers {
			if server.ID == peer {
				return true
			}
		}
		return false
	}
	t.holdback.attach(leads)
	t.installs.attach(leads)
}

// mute stops (true) or lets go on (false) everything that raft sends, pipelines that are open included, so that the
// others elect a new leader. Calls fail at once. Answers to the calls of others are not held: raft gives them on the
// goroutine whose disk hangs.
func (t *transport) mute(muted bool) {
	t.muting.Lock()
	defer t.muting.Unlock()
	t.muted = muted
}

func (t *transport) mutedErr() error {
	t.muting.RLock()
	defer t.muting.RUnlock()
	if t.muted {
		return errMuted
	}
	return nil
}

// SetHeartbeatHandler does nothing, so that heartbeats reach raft by the consumer channel like everything else. Raft's
// handler would run on the connection's goroutine and change the term there, under the feet of the main loop: a
// candidate that has just been told of the leader of a newer term then takes a late vote for its own term as leadership
// of the newer one, and two leaders write that term (hashicorp/raft issue 695).
func (t *transport) SetHeartbeatHandler(func(raft.RPC)) {}

func (t *transport) Consumer() <-chan raft.RPC { return t.inner.Consumer() }

func (t *transport) LocalAddr() raft.ServerAddress { return raft.ServerAddress(t.self) }

func (t *transport) EncodePeer(id raft.ServerID, _ raft.ServerAddress) []byte { return []byte(id) }

func (t *transport) DecodePeer(peer []byte) raft.ServerAddress { return raft.ServerAddress(peer) }

func (t *transport) AppendEntries(id raft.ServerID, _ raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if heartbeat(req) {
		return t.send(id, req, resp)
	}
	if err := t.holdback.wait(id, req.Term); err != nil {
		return fmt.Errorf("append to %s: %w", id, err)
	}
	trim(req)
	if err := t.send(id, req, resp); err != nil {
		return err
	}
	if resp.Success {
		t.installs.progressed(id)
	}
	return nil
}

// probe sends one AppendEntries outside of raft's own replication: to learn whether a quorum still follows, or to tell
// a commit index. Its acknowledgement counts like any other. The caller fills in Term, PrevLogEntry, PrevLogTerm and
// LeaderCommitIndex, all of them known to belong together.
func (t *transport) probe(id raft.ServerID, req raft.AppendEntriesRequest) error {
	req.RPCHeader = raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(t.self), Addr: []byte(t.self)}
	var resp raft.AppendEntriesResponse
	if err := t.send(id, &req, &resp); err != nil {
		return fmt.Errorf("probe %s: %w", id, err)
	}
	switch {
	case resp.Term > req.Term:
		return fmt.Errorf("probe %s in term %d: %w %d", id, req.Term, errStaleTerm, resp.Term)
	case !resp.Success:
		return fmt.Errorf("probe %s with entry %d of term %d: %w", id, req.PrevLogEntry, req.PrevLogTerm, errRefused)
	}
	return nil
}

// send makes one AppendEntries call and notes what it tells about the peer.
func (t *transport) send(id raft.ServerID, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if err := t.mutedErr(); err != nil {
		t.holdback.failed(id)
		return err
	}
	sent := time.Now()
	if err := t.inner.AppendEntries(id, raft.ServerAddress(id), req, resp); err != nil {
		t.holdback.failed(id)
		return err
	}
	t.holdback.answered(id)
	t.matches.noteAppend(id, req, resp)
	t.acks.note(id, req, resp, sent)
	return nil
}

func (t *transport) InstallSnapshot(id raft.ServerID, _ raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	if err := t.holdback.wait(id, req.Term); err != nil {
		return fmt.Errorf("install snapshot on %s: %w", id, err)
	}
	if err := t.installs.wait(id, req.Term); err != nil {
		return fmt.Errorf("install snapshot on %s: %w", id, err)
	}
	if err := t.mutedErr(); err != nil {
		return err
	}
	if err := t.inner.InstallSnapshot(id, raft.ServerAddress(id), req, resp, mutedReader{t, data}); err != nil {
		t.holdback.failed(id)
		return err
	}
	if resp.Success && resp.Term == req.Term {
		t.matches.note(id, req.Term, req.LastLogIndex, req.LastLogTerm)
	}
	return nil
}

// mutedReader ends a snapshot that is under way when the transport is muted.
type mutedReader struct {
	t    *transport
	data io.Reader
}

func (r mutedReader) Read(p []byte) (int, error) {
	if err := r.t.mutedErr(); err != nil {
		return 0, err
	}
	return r.data.Read(p)
}

func (t *transport) RequestVote(id raft.ServerID, _ raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.sendFresh(func() error { return t.inner.RequestVote(id, raft.ServerAddress(id), req, resp) })
}

func (t *transport) RequestPreVote(id raft.ServerID, _ raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.sendFresh(func() error { return t.inner.RequestPreVote(id, raft.ServerAddress(id), req, resp) })
}

func (t *transport) TimeoutNow(id raft.ServerID, _ raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.sendFresh(func() error { return t.inner.TimeoutNow(id, raft.ServerAddress(id), req, resp) })
}

// Close lets go whatever is held back and closes the inner transport.
func (t *transport) Close() error {
	t.closing.Do(func() { close(t.closed) })
	return t.inner.Close()
}

// heartbeat reports whether req is one of raft's heartbeats, which say nothing of the log. (Replication to a peer with
// an empty log by a leader without commits looks the same, and need not be told apart.)
func heartbeat(req *raft.AppendEntriesRequest) bool {
	return len(req.Entries) == 0 && req.PrevLogEntry == 0 && req.LeaderCommitIndex == 0
}
