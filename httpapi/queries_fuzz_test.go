package httpapi

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/fields"
	labelselector "k8s.io/apimachinery/pkg/labels"
)

// queried are requests of every verb, each with a body that does something.
var queried = []struct{ method, path, contentType, body string }{
	{http.MethodGet, heldPath, "", ""},
	{http.MethodGet, fuzzLeases, "", ""},
	{http.MethodGet, "/apis/coordination.k8s.io/v1/leases", "", ""},
	{http.MethodPost, fuzzLeases, "application/json", `{"metadata":{"name":"new"},"spec":{"holderIdentity":"x"}}`},
	{http.MethodPut, heldPath, "application/json", `{"metadata":{"name":"held","resourceVersion":"1008"},"spec":{"holderIdentity":"x"}}`},
	{http.MethodPatch, heldPath, "application/merge-patch+json", `{"spec":{"holderIdentity":"x"}}`},
	{http.MethodPatch, heldPath, "application/apply-patch+yaml", "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: held}\nspec: {holderIdentity: x}\n"},
	{http.MethodDelete, heldPath, "", ""},
	{http.MethodDelete, fuzzLeases + "/light", "", ""},
	{http.MethodDelete, fuzzLeases, "", ""},
	{http.MethodGet, "/apis/coordination.k8s.io/v1/watch/namespaces/ns/leases", "", ""},
	{http.MethodGet, "/apis/coordination.k8s.io/v1/watch/namespaces/ns/leases/held", "", ""},
}

// FuzzQuery puts any query on every verb.
func FuzzQuery(f *testing.F) {
	for i, query := range []string{
		"pretty=true", "dryRun=All", "dryRun=", "dryRun=All&dryRun=All&dryRun=x", "fieldManager=m&force=true", "fieldManager=%00", "fieldValidation=Strict&fieldValidation=x",
		"labelSelector=app%3Done", "fieldSelector=metadata.name%3Dheld", "limit=1", "limit=-1", "limit=9223372036854775808", "continue=x", "resourceVersion=1003",
		"resourceVersion=0", "resourceVersion=x", "resourceVersion=99999999", "resourceVersion=18446744073709551615", "resourceVersionMatch=Exact&resourceVersion=1004", "resourceVersionMatch=NotOlderThan&resourceVersion=1",
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&watch=1", "watch=true&resourceVersion=1000", "watch=false", "watch=maybe", "watch", "timeoutSeconds=0&watch=1", "timeoutSeconds=x",
		"shardSelector=shardRange(object.metadata.uid,'0x0','0x8')", "gracePeriodSeconds=-1", "propagationPolicy=Foreground", "propagationPolicy=Orphan&orphanDependents=true", "orphanDependents=maybe",
		"ignoreStoreReadErrorWithClusterBreakingPotential=true", "timeout=1s", "timeout=x", "export=true", "includeObject=Object", "a=%zz&b=1;c=2&&&=&=x", "preconditions.uid=x", "exact=true",
		"resourceVersion=1008&limit=1&resourceVersionMatch=Exact&labelSelector=app", "apiVersion=v1&kind=x",
	} {
		for what := range queried {
			if what%3 == i%3 || what == i%len(queried) {
				f.Add(uint8(what), query)
			}
		}
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, what uint8, query string) {
		q := queried[int(what)%len(queried)]
		door.execute(t, call{method: q.method, target: q.path + "?" + query, body: q.body, header: as(adminToken, "Content-Type", q.contentType)})
	})
}

// FuzzSelectors selects. A list, a watch's beginning and a deletion of a collection must agree about what is selected,
// and where a selector can be understood that is what it says.
func FuzzSelectors(f *testing.F) {
	for _, label := range []string{"", "app", "!app", "app=one", "app!=one", "app in (one,two)", "app notin (one),tier", "a/b=c", "x>1", "app==one,tier=back", "app=one,app=two", "(", "app in ()", "=", ",", "app=a b", "\x00"} {
		for _, field := range []string{"", "metadata.name=held"} {
			f.Add(label, field, "")
		}
	}
	for _, field := range []string{"metadata.namespace=ns", "metadata.name!=held", "metadata.name==held,metadata.namespace!=ns", "spec.x=y", "metadata.name=", "metadata.name", "=", `metadata.name=a\,b`, `metadata.name=\`, "metadata.name=held,metadata.name=light", "metadata.name=../x"} {
		f.Add("", field, "")
	}
	for _, shard := range []string{"shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')", "shardRange(object.metadata.namespace, '0x0', '0xffffffffffffffff') || shardRange(object.metadata.uid,'0x1','0x2')", "x", "shardRange(", "||"} {
		f.Add("", "", shard)
	}
	ignoring, sharding := openFuzzed(f), openFuzzed(f, func(c *Config) { c.ShardedListAndWatch = true })
	f.Fuzz(func(t *testing.T, label, field, shard string) {
		door := ignoring
		if shard != "" {
			door = sharding
		}
		query := url.Values{"labelSelector": {label}, "fieldSelector": {field}, "shardSelector": {shard}}
		listed := door.execute(t, call{method: http.MethodGet, target: fuzzLeases + "?" + query.Encode(), header: as(adminToken)})
		watched := door.execute(t, call{method: http.MethodGet, target: fuzzLeases + "?watch=1&" + query.Encode(), header: as(adminToken)})
		deleted := door.execute(t, call{method: http.MethodDelete, target: fuzzLeases + "?" + query.Encode(), header: as(adminToken)})
		if listed.code != watched.code || listed.code != deleted.code {
			t.Fatalf("a list is answered %d, a watch %d, a deletion %d", listed.code, watched.code, deleted.code)
		}
		if listed.code != http.StatusOK {
			return
		}
		names := namesOf(t, listed)
		if shown, gone := namesOf(t, watched), namesOf(t, deleted); !slices.Equal(names, shown) || !slices.Equal(names, gone) {
			t.Fatalf("a list shows %v, a watch %v, a deletion removes %v", names, shown, gone)
		}
		if byLabel, err := labelselector.Parse(label); err == nil {
			byField, err := fields.ParseSelector(field)
			if err != nil {
				t.Fatalf("a field selector was accepted: %v", err)
			}
			if want := selectedOf(t, door, byLabel, byField); shard == "" && !slices.Equal(names, want) {
				t.Fatalf("a list shows %v, the selectors say %v", names, want)
			}
		}
	})
}

// namesOf are the names in a list or of the objects that a watch adds.
func namesOf(t *testing.T, answer *recorded) (names []string) {
	objects, events, err := answer.read(answer.streams)
	if err != nil {
		t.Fatal(err)
	}
	for i, object := range objects {
		switch object := object.(type) {
		case *coordinationv1.LeaseList:
			for _, item := range object.Items {
				names = append(names, item.Name)
			}
		case *coordinationv1.Lease:
			if events[i] == "ADDED" {
				names = append(names, object.Name)
			}
		}
	}
	return names
}

// selectedOf asks the selectors themselves about everything that is stored.
func selectedOf(t *testing.T, door *fuzzed, byLabel labelselector.Selector, byField fields.Selector) (names []string) {
	door.refresh(t)
	for _, object := range door.holdings().objects {
		lease := new(coordinationv1.Lease)
		if err := lease.Unmarshal(object.Data); err != nil {
			t.Fatal(err)
		}
		place := fields.Set{"metadata.name": lease.Name, "metadata.namespace": lease.Namespace}
		if lease.Namespace == "ns" && byLabel.Matches(labelselector.Set(lease.Labels)) && byField.Matches(place) {
			names = append(names, lease.Name)
		}
	}
	return names
}

// FuzzContinueToken goes on with a list from anywhere. Whatever the token says, the page is a stretch of the list without
// one, and of the path's namespace alone.
func FuzzContinueToken(f *testing.F) {
	for i, token := range []string{
		`{"v":"meta.k8s.io/v1","rv":1008,"start":"held\u0000"}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"ns/bare\u0000"}`, `{"v":"meta.k8s.io/v1","rv":1002,"start":"a"}`,
		`{"v":"meta.k8s.io/v1","rv":1,"start":"a"}`, `{"v":"meta.k8s.io/v1","rv":1008,"start":"../another/a"}`, `{"v":"meta.k8s.io/v1","rv":1008,"start":"/"}`, `{"v":"meta.k8s.io/v1","rv":1008,"start":"\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":99999,"start":"a"}`, `{"v":"meta.k8s.io/v1","rv":0,"start":"a"}`, `{"v":"meta.k8s.io/v2","rv":1,"start":"a"}`, `{"v":"meta.k8s.io/v1","rv":1008,"start":"ns\u0000"}`, `{`, `null`, ``,
		`{"v":"meta.k8s.io/v1","rv":1008,"start":"z/../../../"}`, `{"v":"meta.k8s.io/v1","rv":1008.5,"start":7}`, `{"v":"meta.k8s.io/v1","rv":1008,"start":"held"}`,
	} {
		f.Add(uint8(i), token, int16(i%4-1))
		f.Add(uint8(i+1), token, int16(2))
	}
	f.Add(uint8(3), "eyJ2IjoibWV0YS5rOHMuaW8vdjEi%", int16(1))
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint8, token string, limit int16) {
		pick := choice(how)
		path := []string{fuzzLeases, "/apis/coordination.k8s.io/v1/leases"}[pick.of(2)]
		if pick.of(8) != 7 {
			token = base64.RawURLEncoding.EncodeToString([]byte(token))
		}
		method := []string{http.MethodGet, http.MethodGet, http.MethodDelete}[pick.of(3)]
		query := url.Values{"continue": {token}, "limit": {strconv.Itoa(int(limit))}}
		page := door.execute(t, call{method: method, target: path + "?" + query.Encode(), header: as(adminToken)})
		if page.code != http.StatusOK || token == "" {
			return
		}
		names := placesOf(t, page)
		if limit > 0 && len(names) > int(limit) {
			t.Fatalf("%d entries where %d were asked for", len(names), limit)
		}
		for i, name := range names {
			if i > 0 && names[i-1] >= name || path == fuzzLeases && !strings.HasPrefix(name, "ns/") {
				t.Fatalf("a page of %s holds %v", path, names)
			}
		}
	})
}

// placesOf are the namespaces and names in a list.
func placesOf(t *testing.T, answer *recorded) (places []string) {
	objects, _, err := answer.read(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range objects[0].(*coordinationv1.LeaseList).Items {
		places = append(places, item.Namespace+"/"+item.Name)
	}
	return places
}
