package httpapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/media"
)

func sharded(c *Config) { c.ShardedListAndWatch = true }

// quarters are four shards by uid; the last consists of two ranges.
var quarters = []string{
	"shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000')",
	"shardRange(object.metadata.uid, '0x4000000000000000', '0x8000000000000000')",
	"shardRange(object.metadata.uid, '0x8000000000000000', '0xb000000000000000')",
	"shardRange(object.metadata.uid, '0xf000000000000000', '0x10000000000000000') || " +
		"shardRange(object.metadata.uid, '0xb000000000000000', '0xf000000000000000')",
}

const wholeShard = "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000000')"

// listedPartly is a list as far as tests of shards look at it.
type listedPartly struct {
	Metadata metav1.ListMeta                `json:"metadata"`
	Items    []metav1.PartialObjectMetadata `json:"items"`
}

// listShard lists all pages of a shard and returns what it is told of: name and version.
func (d *door) listShard(t *testing.T, selector string, limit int) []string {
	t.Helper()
	var found []string
	token := ""
	for {
		got := d.do(t, "GET", fmt.Sprintf("%s?shardSelector=%s&limit=%d&continue=%s", leasesPath, url.QueryEscape(selector), limit, token), "")
		require.Equal(t, 200, got.StatusCode, got.body)
		var list listedPartly
		require.NoError(t, json.Unmarshal([]byte(got.body), &list))
		require.NotNil(t, list.Metadata.ShardInfo)
		assert.Equal(t, selector, list.Metadata.ShardInfo.Selector)
		assert.Nil(t, list.Metadata.RemainingItemCount)
		for _, item := range list.Items {
			found = append(found, item.Name+" "+item.ResourceVersion)
		}
		if token = list.Metadata.Continue; token == "" {
			return found
		}
	}
}

func (d *door) makeLease(t *testing.T, name string) {
	t.Helper()
	require.Equal(t, 201, d.do(t, "POST", leasesPath, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"k":"v"}}}`, name)).StatusCode)
}

// markEnds makes Leases whose names begin with z, one in each shard at least: who watches one knows then that it has seen
// all that came before.
func (d *door) markEnds(t *testing.T) {
	t.Helper()
	unmarked := slices.Clone(quarters)
	for n := 0; len(unmarked) > 0; n++ {
		name := fmt.Sprintf("z%03d", n)
		d.makeLease(t, name)
		mark := d.store.State().Get(fsm.Key{Resource: "leases", Namespace: "ns", Name: name})
		unmarked = slices.DeleteFunc(unmarked, func(text string) bool {
			selector, err := parseShard(text)
			require.NoError(t, err)
			return selector.Selects("ns", mark.UID)
		})
	}
}

func TestEachLeaseIsInTheListOfOneShardAndInItsWatch(t *testing.T) {
	d := openDoor(t, sharded)
	var watches []*follower
	for _, shard := range quarters {
		watches = append(watches, d.follow(t, leasesPath+"?watch=true&resourceVersion="+version(d.store.State().Revision())+
			"&shardSelector="+url.QueryEscape(shard)))
	}
	for n := range 60 {
		d.makeLease(t, fmt.Sprintf("l%02d", n))
	}
	for n := range 60 {
		name := fmt.Sprintf("l%02d", n)
		switch n % 3 {
		case 0: // stays where it is
			require.Equal(t, 200, d.do(t, "PATCH", leasesPath+"/"+name, `{"spec":{"holderIdentity":"x"}}`, "Content-Type", "application/merge-patch+json").StatusCode)
		case 1: // comes back with another uid, and so perhaps in another shard
			require.Equal(t, 200, d.do(t, "DELETE", leasesPath+"/"+name, "").StatusCode)
			d.makeLease(t, name)
		}
	}
	var all []string
	for object := range d.store.State().Scan("leases", "ns", "") {
		all = append(all, object.Key.Name+" "+version(object.Revision))
	}
	d.markEnds(t)

	var together []string
	for i, shard := range quarters {
		listed := d.listShard(t, shard, 7)
		listed = slices.DeleteFunc(listed, func(item string) bool { return item[0] == 'z' })
		together = append(together, listed...)

		held := map[string]string{}
		for event := watches[i].next(); event.meta.Name[0] != 'z'; event = watches[i].next() {
			_, known := held[event.meta.Name]
			assert.Equal(t, event.Type != media.EventAdded, known, event.String())
			held[event.meta.Name] = event.meta.Name + " " + event.meta.ResourceVersion
			if event.Type == media.EventDeleted {
				delete(held, event.meta.Name)
			}
		}
		var watched []string
		for _, item := range held {
			watched = append(watched, item)
		}
		assert.ElementsMatch(t, listed, watched)
	}
	assert.ElementsMatch(t, all, together)
}

func TestInitialEventsAreThoseOfTheShard(t *testing.T) {
	d := openDoor(t, sharded)
	for n := range 30 {
		d.makeLease(t, fmt.Sprintf("l%02d", n))
	}
	var together int
	for _, shard := range quarters {
		f := d.follow(t, leasesPath+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&shardSelector="+url.QueryEscape(shard))
		var names []string
		for event := f.next(); event.Type != media.EventBookmark; event = f.next() {
			names = append(names, event.meta.Name+" "+event.meta.ResourceVersion)
		}
		assert.Equal(t, d.listShard(t, shard, 0), names)
		together += len(names)
	}
	assert.Equal(t, 30, together)
}

func TestShardsByNamespaceHoldWholeNamespaces(t *testing.T) {
	d := openDoor(t, sharded)
	for n := range 40 {
		d.store.change(t, fsm.OpCreate, fmt.Sprintf("ns%d", n/2), fmt.Sprint(n), nil)
	}
	seen := map[string]int{}
	for _, shard := range quarters {
		shard = strings.ReplaceAll(shard, "metadata.uid", "metadata.namespace")
		got := d.do(t, "GET", "/apis/coordination.k8s.io/v1/leases?shardSelector="+url.QueryEscape(shard), "")
		var list listedPartly
		require.NoError(t, json.Unmarshal([]byte(got.body), &list))
		for _, item := range list.Items {
			seen[item.Namespace]++
		}
		assert.Less(t, len(list.Items), 40)
	}
	assert.Len(t, seen, 20)
	for namespace, count := range seen {
		assert.Equal(t, 2, count, namespace)
	}
}

func TestADeletionOfACollectionIsOfTheShardAlone(t *testing.T) {
	d := openDoor(t, sharded)
	for n := range 30 {
		d.makeLease(t, fmt.Sprintf("l%02d", n))
	}
	var rest []string
	for _, shard := range quarters[1:] {
		rest = append(rest, d.listShard(t, shard, 0)...)
	}
	got := d.do(t, "DELETE", leasesPath+"?shardSelector="+url.QueryEscape(quarters[0]), "")
	require.Equal(t, 200, got.StatusCode)
	var list listedPartly
	require.NoError(t, json.Unmarshal([]byte(got.body), &list))
	assert.Len(t, list.Items, 30-len(rest))
	assert.Equal(t, quarters[0], list.Metadata.ShardInfo.Selector)
	assert.ElementsMatch(t, rest, d.listShard(t, strings.Join(quarters, " || "), 0))
}

func TestOnlyListsOfWholeObjectsTellTheirShard(t *testing.T) {
	d := openDoor(t, sharded)
	d.makeLease(t, "a")
	for accept, tells := range map[string]bool{
		"application/json":                                                 true,
		"application/yaml":                                                 true,
		"application/vnd.kubernetes.protobuf":                              true,
		"application/json;as=Table;v=v1;g=meta.k8s.io":                     false,
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io": false,
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io": false,
	} {
		for _, request := range []string{"GET " + leasesPath, "DELETE " + leasesPath, "GET " + namespacesPath} {
			method, path, _ := strings.Cut(request, " ")
			got := d.do(t, method, path+"?dryRun=All&shardSelector="+url.QueryEscape(wholeShard), "", "Accept", accept)
			require.Equal(t, 200, got.StatusCode)
			assert.Equal(t, tells, strings.Contains(got.body, "shardRange(object.metadata.uid, "), "%s %s", request, accept)
		}
	}
}

func TestWhatIsNoShardIsAnErrorWithoutAReason(t *testing.T) {
	d := openDoor(t, sharded)
	d.makeLease(t, "a")
	for _, request := range []string{"GET ?", "GET ?watch=true&timeoutSeconds=1&", "DELETE ?", "GET ?resourceVersion=x&"} {
		method, query, _ := strings.Cut(request, " ")
		got := d.do(t, method, leasesPath+query+"shardSelector=garbage", "")
		assert.Equal(t, 500, got.StatusCode, request)
		assert.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500,
			"message":"invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator"}`, got.body)
	}
	assert.Equal(t, 200, d.do(t, "GET", leasesPath+"/a?shardSelector=garbage", "").StatusCode)
	assert.Equal(t, 200, d.do(t, "GET", leasesPath+"?shardSelector=", "").StatusCode)
	assert.Equal(t, 422, d.do(t, "GET", leasesPath+"?shardSelector=garbage&resourceVersionMatch=Exact", "").StatusCode)
}

func TestShardSelectorsMeanNothingWithoutTheirGate(t *testing.T) {
	d := openDoor(t)
	d.makeLease(t, "a")
	for _, selector := range []string{"garbage", wholeShard, quarters[0], quarters[1], quarters[2], quarters[3]} {
		got := d.do(t, "GET", leasesPath+"?shardSelector="+url.QueryEscape(selector), "")
		assert.Equal(t, 200, got.StatusCode)
		assert.Contains(t, got.body, `"name":"a"`)
		assert.NotContains(t, got.body, "shardInfo")
	}
}
