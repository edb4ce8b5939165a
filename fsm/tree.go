package fsm

// width is how many slots a node has. A node that fills them all is split at once. Wider nodes make a shallower tree
// but more to copy for each change.
const width = 32

// node is one node of a B+ tree ordered by id (see Key.appendID). Nodes reachable from a published State never change;
// those that carry an edit's token are still private to that edit.
type node struct {
	owner *token
	count int // objects at and below this node

	// index has one id per slot. In a leaf it is the id of each object. In an inner node id i is at most every id below
	// children[i] and greater than every id below children[i-1]; id 0 is never looked at.
	index    *index
	objects  []*Object // of a leaf
	children []*node   // of an inner node
}

// token tells which edit made a node. It has a size, so that no two have the same address.
type token struct{ _ byte }

func (n *node) leaf() bool { return n.children == nil }

// newLeaf allocates node and slots together: copying the path to a leaf costs one allocation a level.
func newLeaf(owner *token) *node {
	box := &struct {
		node
		slots [width]*Object
	}{}
	box.owner = owner
	box.objects = box.slots[:0]
	return &box.node
}

func newInner(owner *token) *node {
	box := &struct {
		node
		slots [width]*node
	}{}
	box.owner = owner
	box.children = box.slots[:0]
	return &box.node
}

// copyFor returns a copy of n that the edit with this token may change.
func (n *node) copyFor(owner *token) *node {
	var c *node
	if n.leaf() {
		c = newLeaf(owner)
		c.objects = append(c.objects, n.objects...)
	} else {
		c = newInner(owner)
		c.children = append(c.children, n.children...)
	}
	c.count, c.index = n.count, n.index
	return c
}

// slot returns the child below which id is or would be.
func (n *node) slot(id string) int {
	i := n.index.lower(id)
	if i < n.index.count && n.index.ids[i] == id {
		return i
	}
	return i - 1
}

// position returns where in a leaf id is, or would be, and whether it is there.
func (n *node) position(id string) (i int, found bool) {
	i = n.index.lower(id)
	return i, i < n.index.count && n.index.ids[i] == id
}

// find returns the object under id, or nil.
func (n *node) find(id string) *Object {
	if n == nil {
		return nil
	}
	for !n.leaf() {
		n = n.children[n.slot(id)]
	}
	if i, found := n.position(id); found {
		return n.objects[i]
	}
	return nil
}

// rank returns how many objects have an id less than id.
func (n *node) rank(id string) int {
	if n == nil {
		return 0
	}
	rank := 0
	for !n.leaf() {
		i := n.slot(id)
		for _, child := range n.children[:i] {
			rank += child.count
		}
		n = n.children[i]
	}
	return rank + n.index.lower(id)
}

// scan yields the objects with from <= id < to in order, until yield returns false; it returns whether to go on.
func (n *node) scan(from, to string, yield func(*Object) bool) bool {
	if n == nil {
		return true
	}
	if n.leaf() {
		first, last := n.index.lower(from), n.index.lower(to)
		for i := first; i < last; i++ {
			if !yield(n.objects[i]) {
				return false
			}
		}
		return true
	}
	for i := n.slot(from); i < len(n.children); i++ {
		if i > 0 && n.index.ids[i] >= to {
			break
		}
		if !n.children[i].scan(from, to, yield) {
			return false
		}
	}
	return true
}

// each yields all objects in order, until yield returns false.
func (n *node) each(yield func(*Object) bool) bool {
	if n == nil {
		return true
	}
	for _, child := range n.children {
		if !child.each(yield) {
			return false
		}
	}
	for _, object := range n.objects {
		if !yield(object) {
			return false
		}
	}
	return true
}
