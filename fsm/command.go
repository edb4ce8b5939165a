package fsm

// Op says what a command does. The numbers are part of the log's encoding and are never reused.
type Op uint8

// Operations on objects come first, operations on the machine itself from 64 on.
const (
	OpCreate Op = 1 // refused with Exists when the key is taken
	OpUpdate Op = 2 // refused with Missing or Conflict when Expect does not hold
	OpDelete Op = 3 // refused with Missing or Conflict when Expect does not hold

	OpOpenSession Op = 64 // opens Session for Node and ends every earlier session of Node
	OpEndSession  Op = 65 // ends the sessions of Node (its removal)
	OpCompact     Op = 66 // forgets history up to and including Revision, and may set HistoryBytes
	OpReady       Op = 67 // a new leader's first command: changes nothing
	OpForm        Op = 68 // records the Incarnations of a new cluster's members; only the first has an effect
)

// SessionID identifies one run of one node. It is random, chosen by the node.
type SessionID [16]byte

// Command is one change on its way through the log.
type Command struct {
	Op Op

	// Session and Seq make an object command apply exactly once. Mark is the session's low-water mark: every Seq
	// up to and including it has been answered or given up, so its result may be forgotten and a copy of it that
	// still comes is refused. Commands on the machine itself carry Seq 0 and are idempotent.
	Session SessionID
	Seq     uint64
	Mark    uint64

	// Key, UID, Object and Expect belong to object commands. UID is the new object's, for a create; an update leaves the
	// object's UID as it is. Object is what is stored (the caller's encoding; the machine never looks inside); a delete
	// carries none, or the last state that its event shall show. A create expects that the key is free and nothing else.
	Key    Key
	UID    string
	Object []byte
	Expect Expect

	Node         string            // OpOpenSession, OpEndSession
	Revision     uint64            // OpCompact
	HistoryBytes uint64            // OpCompact: the bound on History.Bytes from here on; 0 leaves it as it is
	Incarnations map[string]string // OpForm: node ID to the incarnation of its data directory
}

// Expect is what must hold of the present object for an update or a delete to be accepted. Zero values expect nothing.
type Expect struct {
	Revision uint64
	UID      string
}

// Outcome is how a command ended. All are definite: the command was reached in the log and took this effect or none.
type Outcome uint8

const (
	Accepted Outcome = 1 // applied; Result.Revision is the revision of this change
	Exists   Outcome = 2 // create: the key is taken
	Missing  Outcome = 3 // update, delete: nothing under the key
	Conflict Outcome = 4 // update, delete: Expect does not hold
	Ended    Outcome = 5 // the session is unknown or has ended: not applied now, but an earlier copy may have been
	Stale    Outcome = 6 // Seq is at or below the session's mark: not applied now, but an earlier copy may have been
)

// Result is what the log made of one command. Every result, refusals too, carries the store's revision after it.
type Result struct {
	Outcome  Outcome
	Revision uint64
}
