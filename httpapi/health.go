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

// alive says that this process answers at all. A node that has lost its quorum is alive: to restart it would not help.
func (s *server) alive() []check { return []check{{name: "ping"}} }

// ready says whether this node can serve linearizable reads and writes now.
func (s *server) ready() []check {
	return []check{{name: "ping"}, {name: "quorum", err: s.store.Ready()}}
}

// addHealth lists the paths that supervisors ask, and for each of them one for every single check.
func (s *server) addHealth(t *routes) {
	for name, checks := range map[string]func() []check{"livez": s.alive, "healthz": s.alive, "readyz": s.ready} {
		t.addExactly("/"+name, probe(func(q *request) (*response, error) { return health(q, name, checks()...), nil }))
		t.addExactly("/"+name+"/{check}", oneCheck(checks))
	}
}

// oneCheck is the path of a single check.
func oneCheck(checks func() []check) endpoint {
	return func(q *request, vars map[string]string) {
		all := checks()
		i := slices.IndexFunc(all, func(c check) bool { return c.name == vars["check"] })
		if i < 0 {
			q.known, q.answer = false, noSuchPath
			return
		}
		probe(func(*request) (*response, error) {
			if err := all[i].err; err != nil {
				return text(http.StatusInternalServerError, "internal server error: "+err.Error()+"\n"), nil
			}
			return text(http.StatusOK, "ok"), nil
		})(q, nil)
	}
}

func text(code int, body string) *response {
	return &response{code: code, document: []byte(body), documentType: "text/plain; charset=utf-8"}
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
