package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzAccept asks for answers in any form, of every verb, and sends bodies under any name. What is answered is of a type
// that the client named; a write whose answer cannot be had is not done.
func FuzzAccept(f *testing.F) {
	for i, accept := range []string{
		"", "*/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/yaml;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
		"application/json;q=0.1,application/yaml;q=0.9", "application/json;q=0", "application/json;q=x;;=", "text/html", "application/*", "*/json", "application/json;stream=watch", "application/cbor", "application/cbor-seq",
		"application/json;pretty=1", "APPLICATION/JSON", ",,,", ";", "application/json;as=Table;v=v9;g=meta.k8s.io", "application/json;as=Table", "application/json;profile=nopeer",
	} {
		for what := range queried {
			if what%4 == i%4 {
				f.Add(uint8(what), accept, queried[what].contentType)
			}
		}
	}
	for i, contentType := range []string{"", "application/json; charset=utf-8", "application/json;charset=", "application/yaml", "application/apply-patch+yaml;x", "application/apply-patch+cbor", "application/strategic-merge-patch+json", "text/plain", ";", "application/vnd.kubernetes.protobuf", "application/cbor", "a/b;c=\"", "application/json-patch+json"} {
		f.Add(uint8(3+i%7), "application/json", contentType)
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, what uint8, accept, contentType string) {
		q := queried[int(what)%len(queried)]
		header := as(adminToken, "Accept", accept, "Content-Type", contentType)
		answer := door.execute(t, call{method: q.method, target: q.path, body: q.body, header: header})
		if answer == nil || answer.code >= 400 || accept == "" {
			return
		}
		given, _, _ := strings.Cut(answer.header.Get("Content-Type"), ";")
		for clause := range strings.SplitSeq(accept, ",") {
			name, _, _ := strings.Cut(clause, ";")
			kind, subtype, _ := strings.Cut(given, "/")
			switch strings.TrimSpace(name) {
			case given, "*/*", kind + "/*", "*/" + subtype:
				return
			}
		}
		t.Fatalf("the answer is of type %q", given)
	})
}

// FuzzPathAndMethod asks for anything: by an administrator, by a user without rights, by nobody. Only the first is told
// about Leases, or changes any.
func FuzzPathAndMethod(f *testing.F) {
	for i, path := range []string{
		heldPath, fuzzLeases, heldPath + "/", heldPath + "/status", "/apis/coordination.k8s.io/v1/leases", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/%68eld", "/apis/coordination.k8s.io/v1/namespaces/ns%2Fleases/held",
		"/apis/coordination.k8s.io/v1/watch/leases", "/apis/coordination.k8s.io/v1/watch/namespaces/ns/leases/held", "/apis/coordination.k8s.io/v1beta1/namespaces/ns/leasecandidates", "/apis/coordination.k8s.io/v1alpha2/leasecandidates",
		"/api/v1/namespaces/ns", "/api/v1/namespaces", "/api/v1/nodes/x", "/apis", "/api", "/apis/coordination.k8s.io", "/apis/coordination.k8s.io/v1", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/coordination.k8s.io/v1?hash=x", "/version", "/healthz", "/livez/ping", "/readyz?verbose&exclude=ping", "/metrics", "/", "/nothing", "*",
		"/apis/authentication.k8s.io/v1/selfsubjectreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "/apis/a/b/c/d", "/apis/a/b/namespaces/c/d/e/f", "//", "/apis//coordination.k8s.io/v1/leases", "/apis/coordination.k8s.io/v1/namespaces/NS_/leases", "http://other/livez", "/%00", "/apis/coordination.k8s.io/v1/namespaces/%2e%2e/leases", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/..", "/x?%zz", "/apis/coordination.k8s.io/v1/namespaces//leases",
	} {
		for who := range 3 {
			f.Add(uint8(who), http.MethodGet, path, "")
		}
		method := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, "BREW", "get", http.MethodTrace}[i%9]
		f.Add(uint8(i%3), method, path, `{"metadata":{"name":"new"},"spec":{}}`)
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, who uint8, method, target, body string) {
		pick := choice(who)
		header := as([]string{adminToken, userToken, ""}[pick.of(3)])
		if header.Get("Authorization") == "Bearer " {
			header.Del("Authorization")
		}
		unseen := header.Get("Authorization") != "Bearer "+adminToken
		before := door.stockRevision()
		answer := door.execute(t, call{method: method, target: target, body: body, header: header})
		if answer == nil || !unseen {
			return
		}
		if strings.Contains(answer.body.String(), secret) {
			t.Fatalf("somebody without rights is told of a Lease: %s", answer.body.Bytes())
		}
		if door.node.State().Revision() != before {
			t.Fatalf("somebody without rights wrote something")
		}
	})
}

// FuzzCredentials claims to be anybody. Without the administrator's token no header is of any use.
func FuzzCredentials(f *testing.F) {
	for _, token := range []string{"", "Bearer " + userToken, "Bearer x", "Basic YTpi", "bearer " + userToken + " " + adminToken, "Bearer"} {
		f.Add(token, "Impersonate-User", "admin", "Impersonate-Group", "system:masters")
		f.Add(token, "Impersonate-User", "admin", "Impersonate-Uid", "1")
		f.Add(token, "X-Remote-User", "admin", "X-Remote-Group", "system:masters")
		f.Add(token, "Impersonate-Extra-Scopes", "x", "Impersonate-Extra-%zz%2f", "y")
		f.Add(token, "X-Forwarded-For", "127.0.0.1", "Authorization2", "Bearer")
		f.Add(token, "User-Agent", "curl/\u00e9", "X-Http-Method-Override", "DELETE")
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, credentials, name, value, name2, value2 string) {
		if strings.Contains(credentials, adminToken) && !strings.Contains(credentials, userToken) || strings.Contains(value, adminToken) || strings.Contains(value2, adminToken) {
			return // that is how to become the administrator
		}
		header := http.Header{}
		header.Set(name, value)
		header.Add(name2, value2)
		header.Set("Authorization", credentials)
		for i, q := range queried[:6] {
			answer := door.execute(t, call{method: q.method, target: q.path, body: q.body, header: header})
			if answer == nil {
				return
			}
			if answer.code < 400 || answer.code >= 404 {
				t.Fatalf("request %d is answered %d", i, answer.code)
			}
		}
		answer := door.execute(t, call{method: http.MethodDelete, target: fuzzLeases, header: header})
		if answer.code < 400 || door.node.State().Revision() != door.stockRevision() {
			t.Fatalf("a deletion is answered %d", answer.code)
		}
	})
}

// FuzzWatchHeader asks for watches, over the websocket and plainly, by the old paths and by the query.
func FuzzWatchHeader(f *testing.F) {
	const key = "dGhlIHNhbXBsZSBub25jZQ=="
	for i, target := range []string{
		"/apis/coordination.k8s.io/v1/watch/namespaces/ns/leases?resourceVersion=1001", fuzzLeases + "?watch=true", "/apis/coordination.k8s.io/v1/watch/leases?resourceVersion=1&timeoutSeconds=1",
		"/apis/coordination.k8s.io/v1/watch/namespaces/ns/leases/held?allowWatchBookmarks=1", heldPath + "?watch=true", fuzzLeases + "?watch=1&resourceVersion=99999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
	} {
		f.Add(target, "websocket", "Upgrade", "https://door", key, "13", "", "")
		f.Add(target, "websocket", "keep-alive, upgrade", "", key, "13", "base64.binary.k8s.io, x", "application/vnd.kubernetes.protobuf")
		f.Add(target, "WebSocket", "Upgrade", "null", key, []string{"8", "", "x"}[i%3], "", "application/json;as=Table;v=v1;g=meta.k8s.io")
		f.Add(target, "websocket", "Upgrade", "http://[::1", "", "13", "binary", "application/yaml")
		f.Add(target, "h2c", "close", "", "x", "13", "", []string{"application/json;stream=watch", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}[i%2])
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, target, upgrade, connection, origin, key, version, protocol, accept string) {
		header := as(adminToken, "Upgrade", upgrade, "Connection", connection, "Origin", origin, "Sec-WebSocket-Key", key,
			"Sec-WebSocket-Version", version, "Sec-WebSocket-Protocol", protocol, "Accept", accept)
		for name, values := range header {
			if values[0] == "" {
				delete(header, name)
			}
		}
		door.execute(t, call{method: http.MethodGet, target: target, header: header, socket: true})
	})
}
