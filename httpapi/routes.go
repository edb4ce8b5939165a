package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/leasehold/leasehold/httpapi/discovery"
)

// prefixes of the paths of all groups that are served.
var prefixes = []string{"/api/", "/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/", "/apis/coordination.k8s.io/"}

// routes finds out what a request asks for. The router is only asked for its match: its own ServeHTTP would copy the
// request to carry the variables in a context.
type routes struct {
	router    *mux.Router
	endpoints map[string]endpoint
}

// verb is a function from a request to a response or an error.
type verb = func(q *request) (*response, error)

// endpoint fills in what a route's path and method mean.
type endpoint func(q *request, vars map[string]string)

// newRoutes lists all paths there are. A slash at the end is accepted within the API, a double one is a path that does not
// exist. What is escaped is what it stands for, slashes too.
func (s *server) newRoutes(documents discovery.Documents, kinds []*kind) *routes {
	t := &routes{router: mux.NewRouter().SkipClean(true), endpoints: make(map[string]endpoint)}

	for _, k := range kinds {
		root := "/apis/" + k.GroupVersion().String()
		some := "/namespaces/{namespace}/" + k.resource.Resource
		t.add(root+some+"/{name}", s.one(k))
		t.add(root+some, s.some(k))
		t.add(root+"/"+k.resource.Resource, s.all(k))

		// An older way to ask for a watch, which clients of their own making still use.
		t.add(root+"/watch"+some+"/{name}", s.watchOnly(k))
		t.add(root+"/watch"+some, s.watchOnly(k))
		t.add(root+"/watch/"+k.resource.Resource, s.watchOnly(k))
	}

	t.add("/api/v1/namespaces/{name}", s.namespace)
	t.add("/api/v1/namespaces", s.namespaces)
	t.add("/api/v1/watch/namespaces/{name}", s.watchNamespacesOnly)
	t.add("/api/v1/watch/namespaces", s.watchNamespacesOnly)

	t.addReviews()

	s.addHealth(t)
	for path, extra := range s.config.Extra {
		t.addExactly(path, only(extra.Method, extra.answer))
	}
	t.addExactly("/metrics", only(http.MethodGet, s.serveMetrics))
	for path, document := range documents {
		if strings.HasPrefix(path, "/openapi/") {
			t.addExactly(path, discover(document))
		} else {
			t.add(path, discover(document))
		}
	}
	return t
}

func (t *routes) add(path string, e endpoint) {
	t.endpoints[path] = e
	t.router.Path(path + "{slash:/?}").Name(path)
}

// addExactly adds a path that no slash is accepted behind: health, metrics and OpenAPI are no part of the API.
func (t *routes) addExactly(path string, e endpoint) {
	t.endpoints[path] = e
	t.router.Path(path).Name(path)
}

// understand fills in what the path and the method say.
func (t *routes) understand(q *request) {
	q.verb = strings.ToLower(q.http.Method)
	if route, vars := t.find(q.http); route != "" {
		q.known = true
		t.endpoints[route](q, vars)
	} else {
		q.answer = noSuchPath
		q.infer()
	}
	if !q.known && q.key.Resource != "" {
		q.inferVerb()
	}
}

// find returns the name of a path's route and the variables in it; "" if there is none.
func (t *routes) find(r *http.Request) (route string, vars map[string]string) {
	var match mux.RouteMatch
	if strings.Contains(r.URL.Path, "//") || !t.router.Match(r, &match) {
		return "", nil
	}
	return match.Route.GetName(), match.Vars
}

// one is one object.
func (s *server) one(k *kind) endpoint {
	return func(q *request, vars map[string]string) {
		q.about(k, vars)
		switch q.http.Method {
		case http.MethodGet:
			q.verb, q.answer = "get", s.get
		case http.MethodPut:
			q.verb, q.answer = "update", s.update
		case http.MethodPatch:
			q.verb, q.answer = "patch", s.patch
		case http.MethodDelete:
			q.verb, q.answer = "delete", s.delete
		default:
			q.known, q.answer = false, noSuchMethod
			return
		}
		if faults := content.IsPathSegmentName(q.key.Name); len(faults) > 0 {
			q.answer = func(q *request) (*response, error) {
				return nil, badRequest("Name parameter invalid: %q: %s", q.key.Name, strings.Join(faults, ";"))
			}
		}
	}
}

// some are all objects of a namespace.
func (s *server) some(k *kind) endpoint {
	return func(q *request, vars map[string]string) {
		q.about(k, vars)
		switch q.http.Method {
		case http.MethodGet:
			s.listOrWatch(q)
		case http.MethodPost:
			q.verb, q.answer = "create", s.create
		case http.MethodDelete:
			q.verb, q.answer = "deletecollection", s.deleteCollection
		default:
			q.known, q.answer = false, noSuchMethod
		}
	}
}

// all are those of all namespaces.
func (s *server) all(k *kind) endpoint {
	return func(q *request, vars map[string]string) {
		q.about(k, vars)
		if q.http.Method != http.MethodGet {
			q.known, q.answer = false, noSuchMethod
			return
		}
		s.listOrWatch(q)
	}
}

// watchOnly is a watch whatever the query says: of all objects, of a namespace's, or of one.
func (s *server) watchOnly(k *kind) endpoint {
	return func(q *request, vars map[string]string) {
		q.about(k, vars)
		q.verb, q.answer = "watch", s.watch
		if q.http.Method != http.MethodGet {
			q.known, q.answer = false, noSuchMethod
		}
	}
}

func (s *server) listOrWatch(q *request) {
	q.verb, q.answer = "list", s.list
	if wantsWatch(q.http.URL) {
		q.verb, q.answer = "watch", s.watch
	}
}

// about notes what objects a request is about.
func (q *request) about(k *kind, vars map[string]string) {
	q.kind, q.group, q.version = k, k.Group, k.Version
	q.key = k.key(vars["namespace"], vars["name"])
}

// discover is a path that tells what is served.
func discover(document *discovery.Document) endpoint {
	return func(q *request, _ map[string]string) {
		q.answer = func(q *request) (*response, error) {
			answer, err := document.Answer(q.http)
			return &response{code: answer.Code, document: answer.Body, documentType: answer.ContentType, header: answer.Header}, err
		}
		if !document.AnyMethod && q.http.Method != http.MethodGet {
			q.known, q.answer = false, noSuchMethod
		}
	}
}

// only is a path outside of resources that knows one method.
func only(method string, answer verb) endpoint {
	return func(q *request, _ map[string]string) {
		q.answer = answer
		if q.http.Method != method {
			q.known, q.answer = false, noSuchMethod
		}
	}
}

// probe is a path for supervisors and load balancers: to refuse them under load would only make things worse. It answers any
// method, to those who may use it.
func probe(answer verb) endpoint {
	return func(q *request, _ map[string]string) { q.health, q.answer = true, answer }
}

// noSuchPath is a Status below a group that is served, and plain text elsewhere.
func noSuchPath(q *request) (*response, error) {
	path := q.http.URL.Path
	if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
		return nil, errNoSuchPath
	}
	answer := text(http.StatusNotFound, "404 page not found\n")
	answer.header = http.Header{"X-Content-Type-Options": {"nosniff"}}
	return answer, nil
}

func noSuchMethod(*request) (*response, error) { return nil, errNoSuchMethod }
