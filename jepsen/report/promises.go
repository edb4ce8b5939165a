package report

// Promise is a guarantee in plain words.
type Promise struct {
	Code  string
	Title string
	Text  string
}

// promise returns the guarantee of a code, or one without words if there is none.
func promise(code string) Promise {
	for _, p := range promises {
		if p.Code == code {
			return p
		}
	}
	return Promise{Code: code, Title: "guarantee " + code}
}

var promises = [...]Promise{
	{"V1", "versions are numbers", "A resourceVersion is a positive whole number."},
	{"V2", "no version twice", "Each write of the whole store gets a version of its own, whatever fails meanwhile."},
	{"V3", "later writes have higher versions", "If one write was acknowledged before another was begun, its version is the lower one."},
	{"V4", "versions never go back", "A node never answers with a lower version than it has answered with before."},
	{"V5", "a write that changes nothing", "A write that changes nothing either keeps the version and shows no event, or is a write like any other."},
	{"O1", "create only what is absent", "A create succeeds if there is no such object, and is refused with AlreadyExists if there is."},
	{"O2", "update only what was read", "An update succeeds only if the object is still at the version that the client read, and is else refused with Conflict."},
	{"O3", "patches are whole", "A patch reads, changes and writes at one moment: nothing that others wrote meanwhile is lost."},
	{"O4", "deletes are whole", "A delete removes an object that is there and meets its preconditions, once, and has a version of its own."},
	{"O5", "reads are current", "A read, at any node, shows the object as of some moment between its call and its answer: never older than a write that was acknowledged before the read began."},
	{"O6", "identity is fixed", "Each life of an object has a uid of its own, and neither uid nor creation time change within it."},
	{"O7", "refusals are true", "A NotFound, AlreadyExists or Conflict was true at some moment between the call and the answer."},
	{"L1", "lists are current and whole", "A list shows all of the store as of one moment between its call and its answer."},
	{"L2", "old lists are whole", "A list that may be old still shows all of the store as of one moment, and one node's never go back in time."},
	{"L3", "lists not older than asked", "A list that asks for a version at least so new never shows an older state."},
	{"L4", "lists of an exact version", "A list that asks for one version shows exactly that state, or says that it is forgotten."},
	{"L5", "pages fit together", "All pages of a list show the same moment, and together each object once, whichever node serves them."},
	{"W1", "events in order", "A watch shows changes in the order of their versions."},
	{"W2", "no event twice", "A watch shows no change twice."},
	{"W3", "no event missing", "A watch shows every change from where it began: between two events that it delivered lies no other that it should have."},
	{"W4", "no event invented", "Each event of a watch is a write that really happened, with that content and version."},
	{"W5", "events of the right type", "ADDED, MODIFIED and DELETED say what really happened to what the watch selects."},
	{"W6", "watches resume without a gap", "A watch resumed from a version seen, on any node, goes on with the very next change, or says that the version is forgotten. It never skips in silence."},
	{"W7", "bookmarks are true", "A bookmark says that everything up to its version was delivered, and nothing of it comes later."},
	{"W8", "initial events are whole", "A watch that begins with the present state shows all of it, then one mark, then the changes after it."},
	{"W9", "no old events from the future", "A watch from a version that is yet to come shows nothing up to that version."},
	{"W10", "slow readers are told", "A watch whose reader is too slow is ended. It never leaves events out and goes on."},
	{"W11", "what was shown stays", "What a watch has shown is never taken back by a failure."},
	{"A1", "one attempt, one effect", "One request takes effect at most once, and exactly once if it was acknowledged."},
	{"A2", "no means no", "A request that was refused for certain never takes effect, also not later."},
	{"A3", "retry only what is safe", "A client is invited to try again only after what certainly had no effect."},
	{"A4", "nothing is sent on twice", "A node passes a request on again only when it knows that the first copy had no effect."},
	{"E1", "one holder in the store", "A lease changes its holder only by a write that had read the state before; the count of changes rises by one each time."},
	{"E2", "one leader at a time", "While no elector is paused or on a wrong clock, no two of them believe at the same time that they hold the same lease."},
	{"D1", "acknowledged writes stay", "A write that was acknowledged survives any crash, also the loss of power of all nodes at once."},
	{"D2", "what was read stays", "What a read has shown is never taken back by a failure."},
	{"D3", "no reads from a deposed leader", "A node that leads no more never answers from its old state as if it were the present."},
	{"D4", "nodes agree", "All nodes that have applied the same log hold the same state."},
	{"log", "no node fails by itself", "A node never panics, reports a data race or ends, unless the fault done to it says so."},
	{"D5", "the service comes back", "While a majority of nodes is healthy, writes succeed again within a bounded time, every node catches up, and no request hangs."},
}
