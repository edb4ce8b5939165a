package cluster

import "github.com/hashicorp/raft"

// maxAppendBytes bounds the data in one AppendEntries. Raft bounds the number of entries alone, and a call of 64 entries
// of 1 MiB outlasts the transport's deadline on a slow link, again and again.
const maxAppendBytes = 16 << 20

// trim cuts req to maxAppendBytes (but to no fewer than one entry) and its commit index to what it proves. It changes
// req in place: raft reads the request again after the call to learn which entries the peer holds now, and goes on from
// there.
//
// The commit index that a leader may tell is at most the index of the last entry that the same request carries or
// checks (the Raft paper, figure 2, AppendEntries rule 5). Raft sends its own whole commit index and the follower
// takes the lesser of it and the end of its *own* log, of which entries after the request's may belong to another
// leader.
func trim(req *raft.AppendEntriesRequest) {
	size := 0
	for i, entry := range req.Entries {
		size += len(entry.Data) + len(entry.Extensions)
		if size > maxAppendBytes && i > 0 {
			req.Entries = req.Entries[:i]
			break
		}
	}
	req.LeaderCommitIndex = min(req.LeaderCommitIndex, req.PrevLogEntry+uint64(len(req.Entries)))
}
