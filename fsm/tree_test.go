package fsm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// spellings are ids whose differences lie early, late, behind zeros, and where one is the beginning of another.
var spellings = []func(i int) string{
	func(i int) string { return fmt.Sprintf("%04d", i) },
	func(i int) string { return fmt.Sprintf("leases\x00kube-node-lease/node-%d.example.com", i) },
	func(i int) string { return fmt.Sprintf("%d-the-same-for-a-long-while-%d", i%3, i/3) },
	func(i int) string { return strings.Repeat("\x00", i%40) + fmt.Sprint(i/40) },
	func(i int) string {
		return strings.Repeat("a", i%50) + strings.Repeat("\x00", i/50%50) + fmt.Sprint(i/2500)
	},
}

// TestTreeMatchesSortedMap edits a tree in batches that grow it over several levels and shrink it again. Each published
// root must go on to equal the map as it was then.
func TestTreeMatchesSortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type published struct {
			root  *node
			model map[string]*Object
		}
		var all []published
		model := map[string]*Object{}
		var root *node
		spell := rapid.SampledFrom(spellings).Draw(t, "spelling")
		span := rapid.SampledFrom([]int{10, 200, 5000}).Draw(t, "span")
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			var e edit
			e.begin(root)
			keep := rapid.IntRange(0, 10).Draw(t, "keep") // of ten
			start := rapid.IntRange(0, span-1).Draw(t, "start")
			stride := rapid.SampledFrom([]int{1, 1, 7, 4999}).Draw(t, "stride")
			for i := range rapid.IntRange(0, 1500).Draw(t, "changes") {
				id := spell((start + i*stride) % span)
				object := &Object{UID: id}
				switch current := e.find(id); {
				case current != model[id]:
					t.Fatalf("find %s: %p, want %p", id, current, model[id])
				case current == nil:
					e.insert(id, object)
					model[id] = object
				case (i*7+start)%10 < keep:
					e.replace(object)
					model[id] = object
				default:
					e.remove(id)
					delete(model, id)
				}
			}
			root = e.root
			all = append(all, published{root, maps.Clone(model)})
		}
		for _, p := range all {
			checkTree(t, p.root)
			checkListing(t, p.root, p.model, spell(rapid.IntRange(0, span).Draw(t, "from")),
				spell(rapid.IntRange(0, span).Draw(t, "to")))
			checkListing(t, p.root, p.model, "", "~")
		}
	})
}

func checkListing(t *rapid.T, root *node, model map[string]*Object, from, to string) {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(model)), func(id string) bool { return id < from || id >= to })
	var got []string
	root.scan(from, to, func(object *Object) bool {
		require.Same(t, model[object.UID], object)
		got = append(got, object.UID)
		return true
	})
	require.Equal(t, len(ids), len(got))
	if len(ids) > 0 {
		require.Equal(t, ids, got)
	}
	require.Equal(t, len(ids), max(0, root.rank(to)-root.rank(from)))
	for _, id := range []string{from, to} {
		require.Same(t, model[id], root.find(id))
	}
}

// checkTree checks what the fields of node promise.
func checkTree(t *rapid.T, root *node) {
	if root == nil {
		return
	}
	var check func(n *node, from, to string) (count, depth int)
	check = func(n *node, from, to string) (count, depth int) {
		ids := n.index.all()
		require.NotEmpty(t, ids)
		require.Less(t, len(ids), width)
		if n.leaf() {
			require.Len(t, n.objects, len(ids))
			require.Equal(t, len(n.objects), n.count)
			require.True(t, slices.IsSorted(ids))
			require.LessOrEqual(t, from, ids[0])
			require.Less(t, ids[len(ids)-1], to)
			return n.count, 1
		}
		require.Len(t, n.children, len(ids))
		for i, child := range n.children {
			low, high := from, to
			if i > 0 {
				low = ids[i]
			}
			if i+1 < len(ids) {
				high = ids[i+1]
			}
			below, levels := check(child, low, high)
			if i > 0 {
				require.Equal(t, depth, levels)
			}
			count, depth = count+below, levels
		}
		require.Equal(t, count, n.count)
		return count, depth + 1
	}
	check(root, "", "~")
}

func TestListingIsInByteOrderOfNamespaceAndName(t *testing.T) {
	m := opened(t)
	var commands []Command
	for i, path := range []string{"b/x", "a/x", "a-b/x", "a0/x", "a/x-y", "a/x.y", "aa/x"} {
		namespace, name, _ := strings.Cut(path, "/")
		commands = append(commands, Command{
			Op: OpCreate, Session: sessionOne, Seq: uint64(i + 1), Key: Key{"leases", namespace, name},
		})
	}
	m.Apply(entry(2, 1, commands...))
	var got []string
	for object := range m.State().Scan("leases", "", "") {
		got = append(got, object.Key.String())
	}
	require.Equal(t, []string{"a-b/x", "a/x", "a/x-y", "a/x.y", "a0/x", "aa/x", "b/x"}, got)
	require.Equal(t, 3, m.State().Count("leases", "a", ""))
	require.Equal(t, 2, m.State().Count("leases", "a", "a/x"))
	require.Equal(t, 3, m.State().Count("leases", "a", "a-b/x"), "a listing begins no earlier than its namespace")
	require.Equal(t, 0, m.State().Count("leases", "a", "b/x"))
	require.Equal(t, 6, m.State().Count("leases", "", "a-b/x"))
	for range m.State().Scan("leases", "", "") {
		break
	}
}
