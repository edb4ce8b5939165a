package cluster

import "time"

// staleWithin is how soon a call on a stale connection fails: at once, but for a busy machine. A round of an election
// lasts at least twice as long.
const staleWithin = 250 * time.Millisecond

// sendFresh makes a call until it gets over a connection that is alive. Raft's transport keeps connections and cannot see
// that the peer has restarted since; on each of them one call fails. Raft makes up for that where it calls again anyway.
// But a vote that is asked for in vain costs a candidate the whole round, which makes an outage of one second one of two,
// and a hand-over that fails makes an outage where there need be none. Raft answers a repeated request for a vote as it
// answered the first.
func (t *transport) sendFresh(call func() error) error {
	start := time.Now()
	for stale := 0; ; stale++ {
		if err := t.mutedErr(); err != nil {
			return err
		}
		err := call()
		if err == nil || stale == pooledConnections || time.Since(start) > staleWithin {
			return err
		}
	}
}
