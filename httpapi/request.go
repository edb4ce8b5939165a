package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/auth"
	"github.com/leasehold/leasehold/httpapi/media"
)

// request is one HTTP request as the pipeline understood it. Each step fills in what it found out; a verb only reads.
type request struct {
	http      *http.Request
	arrived   time.Time
	encodings media.Encodings // in which the server may be answered to and asked

	// Of the path and the method.
	verb        string  // get, list, watch, create, update, patch, delete, deletecollection; of other paths the method
	group       string  // of a path below /apis/GROUP/VERSION
	version     string  // of a path below /apis/GROUP/VERSION
	kind        *kind   // of a resource that is stored here; nil for all other paths
	key         fsm.Key // of a resource's path; Name is empty for a collection, Namespace for all of them
	subresource string
	query       url.Values
	known       bool // there is such a path and it knows such a method; the metrics' labels rest on it
	columnless  bool // there is nothing that a Table could show
	health      bool // answered however busy the server is
	answer      verb // what to do

	// Of the headers.
	user     *auth.User // nil for nobody
	stranger bool       // nobody knows who sent it
	admitted bool       // who sent it is known, or need not be
	form     form       // how the answer shall look

	// body is all of the body, of the verbs that have one.
	body []byte

	// routed says that the verb is asked, or that the request was refused no earlier than kube-apiserver's handlers
	// would have: then the answer carries the kind's warning.
	routed bool

	// held is what the request holds of the budget for lists, in bytes.
	held int64

	// warnings are what the client shall be told beside the answer; verbs append to them.
	warnings []string
}

// context ends when the client goes away or the server closes the connection.
func (q *request) context() context.Context { return q.http.Context() }

// writes tells whether the verb may change what is stored.
func (q *request) writes() bool {
	switch q.verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return q.key.Resource != ""
	}
	return false
}

// warn tells the client something beside the answer, in a Warning header; once, though a verb may find it repeatedly.
func (q *request) warn(warning string) {
	if !slices.Contains(q.warnings, warning) {
		q.warnings = append(q.warnings, warning)
	}
}

// told are all warnings of an answer, in order.
func (q *request) told() []string {
	if !q.routed || q.kind == nil || q.kind.warning == "" {
		return q.warnings
	}
	return append([]string{q.kind.warning}, q.warnings...)
}

// response is what a verb answers. Exactly one of object, value, document and stream is set.
type response struct {
	code int

	// object is a stored version; its rendering is made once and shared by all who are shown it.
	object *fsm.Object

	// value is any other API object: a list, a Status, a Lease that is not stored (a dry run) and therefore carries
	// its resourceVersion itself, if it has one. It is the response's own and may be changed while rendering.
	value apiObject

	// columns are what a Table shows of a value that is none of the stored kinds.
	columns *media.Columns

	// document is bytes as they are, in documentType.
	document     []byte
	documentType string

	// written is called when the document has been written, whole, and may be changed again. Nil is nobody.
	written func()

	// stream writes an answer that has no end of its own. It runs on the request's goroutine.
	stream func(w http.ResponseWriter)

	// header is added to what every answer carries.
	header http.Header
}
