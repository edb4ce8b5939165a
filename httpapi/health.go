package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// check is one line of a health answer.
type check struct {
	name string
	err  error
}

// livez says that this process answers at all. A node that has lost its quorum is alive: to restart it would not help.
func (s *server) livez(q *request) (*response, error) {
	return health(q, "livez", check{name: "ping"}), nil
}

// healthz is livez's old name.
func (s *server) healthz(q *request) (*response, error) {
	return health(q, "healthz", check{name: "ping"}), nil
}

// readyz says whether this node can serve linearizable reads and writes now.
func (s *server) readyz(q *request) (*response, error) {
	return health(q, "readyz", check{name: "ping"}, check{name: "quorum", err: s.store.Ready()}), nil
}

// health answers ok, or with ?verbose or when something fails a line for each check. The query's exclude leaves some out.
func health(q *request, name string, checks ...check) *response {
	var lines strings.Builder
	failed := false
	excluded := q.query["exclude"]
	for _, c := range checks {
		switch {
		case slices.Contains(excluded, c.name):
			lines.WriteString("[+]" + c.name + " excluded: ok\n")
		case c.err != nil:
			failed = true
			lines.WriteString("[-]" + c.name + " failed: " + c.err.Error() + "\n")
		default:
			lines.WriteString("[+]" + c.name + " ok\n")
		}
	}
	answer := &response{
		code: http.StatusOK, document: []byte("ok"), documentType: "text/plain; charset=utf-8",
		header: http.Header{"X-Content-Type-Options": {"nosniff"}},
	}
	_, verbose := q.query["verbose"]
	switch {
	case failed:
		answer.code = http.StatusInternalServerError
		answer.document = []byte(lines.String() + name + " check failed\n")
	case verbose:
		answer.document = []byte(lines.String() + name + " check passed\n")
	}
	return answer
}
