package history

// Type says what a line tells.
type Type string

const (
	Invoke Type = "invoke" // an operation was called
	OK     Type = "ok"     // it answered, and did what it says
	Fail   Type = "fail"   // it answered, or was never sent, and certainly did and will do nothing
	Info   Type = "info"   // nobody can tell: it may have taken effect, may still take effect, or never will

	Seen Type = "seen" // an open watch delivered an event
	End  Type = "end"  // an open watch ended

	Start Type = "start" // a fault began
	Stop  Type = "stop"  // a fault ended
	Probe Type = "probe" // a node's own account of itself
	Lead  Type = "lead"  // an elector believes that it holds its lease
	Yield Type = "yield" // an elector believes so no more
)

// The operations.
const (
	Create = "create" // POST
	Update = "update" // PUT with a resourceVersion
	Put    = "put"    // PUT without one: it creates, or is refused as invalid
	Patch  = "patch"  // PATCH, with or without preconditions
	Delete = "delete" // DELETE of one object
	Get    = "get"
	List   = "list"
	Watch  = "watch"
)

// Event is one line of a history. Which fields are set depends on its Type.
type Event struct {
	Index int64 `json:"i"` // of the line, from 1
	Time  int64 `json:"t"` // nanoseconds since the history began, on one monotonic clock
	// Process is who speaks. A process has at most one operation open; after Info its name is never used again.
	Process string `json:"p"`
	Type    Type   `json:"type"`
	F       string `json:"f,omitempty"`    // the operation, or the kind of the fault
	Node    string `json:"node,omitempty"` // the node that was asked

	Request *Request `json:"in,omitempty"`     // of Invoke
	Answer  *Answer  `json:"out,omitempty"`    // of OK, Fail and Info
	Change  *Change  `json:"seen,omitempty"`   // of Seen
	Fault   *Fault   `json:"fault,omitempty"`  // of Start and Stop
	Sample  *Sample  `json:"sample,omitempty"` // of Probe
	Tenure  *Tenure  `json:"lease,omitempty"`  // of Lead and Yield
	Note    string   `json:"note,omitempty"`   // for a person; no checker reads it, but for an End's reason
}

// Request is what an operation asks for.
type Request struct {
	// Key is namespace/name. A create with a generated name, a list and a watch have namespace/, or "" for all namespaces;
	// a list or watch of one name (field selector metadata.name) has namespace/name.
	Key string `json:"key,omitempty"`
	// ID names a write for good. The object carries it in the annotation IDAnnotation, so that whoever sees the object knows
	// whose work it is. Two writes never share an ID, but where Same is set.
	ID string `json:"id,omitempty"`
	// Same marks a write that means to change nothing: it sends what the object already holds.
	Same bool `json:"same,omitempty"`
	// Generate marks a create whose name the server makes.
	Generate bool `json:"generate,omitempty"`
	// Revision is the resourceVersion sent: precondition of a write, demand of a read or watch ("" and "0" have meanings of
	// their own). UID is the uid sent as a precondition.
	Revision string `json:"rv,omitempty"`
	UID      string `json:"uid,omitempty"`
	// Match is resourceVersionMatch.
	Match string `json:"match,omitempty"`
	// Group is the label that a write sets, or the value of the label that a list or watch selects by (label GroupLabel).
	Group string `json:"group,omitempty"`
	// Holder and Transitions are what a write puts into the spec. Append is the element that it adds at the end of the
	// object's elements, or the first one of an object that it creates.
	Holder      string `json:"holder,omitempty"`
	Transitions int32  `json:"transitions,omitempty"`
	Append      string `json:"append,omitempty"`
	// Blind marks a patch that appends without reading first: the server reads, appends and writes. Applied twice, the
	// element stands there twice.
	Blind bool `json:"blind,omitempty"`

	Limit    int    `json:"limit,omitempty"`    // of a page
	Page     int    `json:"page,omitempty"`     // number of the page, from 0; pages of one list share Listing
	Listing  string `json:"listing,omitempty"`  // names the list that a page belongs to
	Initial  bool   `json:"initial,omitempty"`  // sendInitialEvents
	Bookmark bool   `json:"bookmark,omitempty"` // allowWatchBookmarks
}

// Answer is what came back. Code 0 means that no HTTP answer came.
type Answer struct {
	Code int `json:"code,omitempty"`
	// Reason is that of the Status: AlreadyExists, Conflict, NotFound, Expired... A refusal counts as a statement about the object
	// only with its reason: a 404 of a path that nobody serves says nothing of a Lease.
	Reason     string `json:"reason,omitempty"`
	RetryAfter bool   `json:"retryAfter,omitempty"` // the answer asked for another try
	Error      string `json:"error,omitempty"`      // for a person
	// Malformed says what is not of the form that the API promises: a resourceVersion that is no number, say.
	Malformed string `json:"malformed,omitempty"`

	// Version is that of a write or get. A delete's has the uid of what was deleted, which is deleted only once, and Revision 0
	// unless the server tells that of the deletion. A watch has none.
	Version  *Version  `json:"version,omitempty"`
	Revision uint64    `json:"rv,omitempty"`    // of a list
	Items    []Version `json:"items,omitempty"` // of a list, in the order received
	More     bool      `json:"more,omitempty"`  // a list has further pages

	Term    uint64 `json:"term,omitempty"`    // the node's, when it tells; for diagnosis alone
	Applied uint64 `json:"applied,omitempty"` // the node's revision, when it tells; for diagnosis alone
}

// Version is what somebody saw of an object.
type Version struct {
	Key      string `json:"k"`
	UID      string `json:"u,omitempty"`
	Revision uint64 `json:"r"`
	// ID is that of the write that made this version, "" if the harness did not.
	ID          string `json:"id,omitempty"`
	Group       string `json:"g,omitempty"`
	Holder      string `json:"h,omitempty"`
	Transitions int32  `json:"n,omitempty"`
	// Elements are the object's finalizers in their order, without ElementPrefix: a list that a JSON patch can append to, which
	// no server sorts or rids of duplicates.
	Elements []string `json:"el,omitempty"`
	// Created is the creationTimestamp in seconds since 1970.
	Created int64 `json:"c,omitempty"`
	// Digest is of all that the object holds but kind, apiVersion and resourceVersion. All who see a revision see one digest.
	Digest uint64 `json:"d,omitempty"`
}

// Change is one event of a watch.
type Change struct {
	Type    string   `json:"type"` // ADDED, MODIFIED, DELETED, BOOKMARK or ERROR
	Version *Version `json:"version,omitempty"`
	// Revision is a bookmark's; InitialEnd marks the one that ends the initial events.
	Revision   uint64 `json:"rv,omitempty"`
	InitialEnd bool   `json:"initialEnd,omitempty"`
	Code       int    `json:"code,omitempty"` // of an ERROR
	Reason     string `json:"reason,omitempty"`
	Malformed  string `json:"malformed,omitempty"`
}

// The reasons for which a watch ends, in an End's note.
const (
	EndedByServer = "server" // cleanly, as at a timeout
	EndedByClient = "client" // it had seen enough
	EndedByError  = "error"  // an ERROR event came last
	EndedByCut    = "cut"    // the connection broke
)

// Fault is a fault done to the cluster. Its Start and Stop share a Name. Nodes and Detail may be told at Stop again, then whole.
type Fault struct {
	Name   string            `json:"name"`            // unique in the run, kind and number: partition-leader-3
	Family string            `json:"family"`          // for colours: kill, pause, partition, packet, disk, clock, member, load
	Nodes  []string          `json:"nodes,omitempty"` // to whom it was done
	Detail map[string]string `json:"detail,omitempty"`
	// Effect says, at Stop, what shows that the fault was felt; "" means that nothing did.
	Effect string `json:"effect,omitempty"`
	Error  string `json:"error,omitempty"` // why it could not be done
}

// Sample is what a node says of itself, or why it says nothing.
type Sample struct {
	Role      string `json:"role,omitempty"`
	Leader    string `json:"leader,omitempty"`
	Term      uint64 `json:"term,omitempty"`
	Revision  uint64 `json:"rv,omitempty"`
	Commit    uint64 `json:"commit,omitempty"`
	Applied   uint64 `json:"applied,omitempty"`
	First     uint64 `json:"first,omitempty"`     // index that its log begins at: who lacks an earlier entry needs a snapshot
	HashIndex uint64 `json:"hashIndex,omitempty"` // log index at which Hash was taken
	Hash      string `json:"hash,omitempty"`
	Ready     bool   `json:"ready,omitempty"`
	Final     bool   `json:"final,omitempty"` // taken after everything was healed and had time to level
	Error     string `json:"error,omitempty"`
}

// Tenure is an elector's belief about a lease. The elector is the line's process.
type Tenure struct {
	Key      string `json:"key"`
	Holder   string `json:"holder"`
	Client   string `json:"client"`             // the operating system process it lives in
	At       int64  `json:"at"`                 // when, by the elector's own report, on the history's clock
	Disturb  bool   `json:"disturb,omitempty"`  // that process is one that is paused now and then, or runs on a clock of another rate: so in all its lines
	Duration int64  `json:"duration,omitempty"` // leaseDuration in nanoseconds
}

// Names of what the harness puts into objects.
const (
	IDAnnotation  = "jepsen/id"
	ElementPrefix = "jepsen/" // of an element as a finalizer
	GroupLabel    = "group"
)
