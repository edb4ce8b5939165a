package fsm

import "slices"

// edit changes a tree on behalf of one batch. It copies each node once, on the first change below it, and then changes
// its own copy in place; the tree it began with stays as it was. It must not be used after its root was published.
type edit struct {
	root  *node
	token *token
	path  []step // of the last find
}

// step is one level of the way down to an id.
type step struct {
	node *node
	slot int
}

func (e *edit) begin(root *node) { e.root, e.token = root, new(token) }

// find returns the object under id, or nil, and remembers the way for replace.
func (e *edit) find(id string) *Object {
	e.path = e.path[:0]
	n := e.root
	if n == nil {
		return nil
	}
	for !n.leaf() {
		i := n.slot(id)
		e.path = append(e.path, step{n, i})
		n = n.children[i]
	}
	i, found := n.position(id)
	if !found {
		return nil
	}
	e.path = append(e.path, step{n, i})
	return n.objects[i]
}

// replace puts object in place of the one that the last find returned, with nothing changed in between.
func (e *edit) replace(object *Object) {
	at := &e.root
	for _, step := range e.path {
		n := e.own(at)
		if n.leaf() {
			n.objects[step.slot] = object
			return
		}
		at = &n.children[step.slot]
	}
}

// own makes *at a node that this edit may change.
func (e *edit) own(at **node) *node {
	if (*at).owner != e.token {
		*at = (*at).copyFor(e.token)
	}
	return *at
}

// insert puts object under an id that the tree does not hold.
func (e *edit) insert(id string, object *Object) {
	if e.root == nil {
		e.root = newLeaf(e.token)
		e.root.index = newIndex(0)
	}
	right, separator := e.insertBelow(&e.root, id, object)
	if right == nil {
		return
	}
	root := newInner(e.token)
	root.count = e.root.count + right.count
	root.children = append(root.children, e.root, right)
	root.index = newIndex(1, []string{"", separator})
	e.root = root
}

// insertBelow returns what it split off to the right of *at, if that was full.
func (e *edit) insertBelow(at **node, id string, object *Object) (right *node, separator string) {
	n := e.own(at)
	n.count++
	var last bool // the new slot is the rightmost
	if n.leaf() {
		i := n.index.lower(id)
		last = i == n.index.count
		n.objects = slices.Insert(n.objects, i, object)
		n.index = n.index.inserted(i, id)
	} else {
		i := n.slot(id)
		child, from := e.insertBelow(&n.children[i], id, object)
		if child == nil {
			return nil, ""
		}
		last = i+1 == n.index.count
		n.children = slices.Insert(n.children, i+1, child)
		n.index = n.index.inserted(i+1, from)
	}
	if n.index.count < width {
		return nil, ""
	}
	if last {
		return e.split(n, width-1) // ids that come in ascending order leave full nodes behind
	}
	return e.split(n, width/2)
}

// split moves the slots from position at on into a new node.
func (e *edit) split(n *node, at int) (right *node, separator string) {
	if n.leaf() {
		right = newLeaf(e.token)
		right.objects = append(right.objects, n.objects[at:]...)
		right.count = len(right.objects)
		clear(n.objects[at:])
		n.objects = n.objects[:at]
	} else {
		right = newInner(e.token)
		right.children = append(right.children, n.children[at:]...)
		for _, child := range right.children {
			right.count += child.count
		}
		clear(n.children[at:])
		n.children = n.children[:at]
	}
	n.count -= right.count
	ids := n.index.all()
	right.index = newIndex(n.index.first, ids[at:])
	n.index = newIndex(n.index.first, ids[:at])
	return right, ids[at]
}

// remove takes away the object under an id that the tree holds.
func (e *edit) remove(id string) {
	e.removeBelow(&e.root, id)
	for !e.root.leaf() && len(e.root.children) == 1 {
		e.root = e.root.children[0]
	}
	if e.root.index.count == 0 {
		e.root = nil
	}
}

func (e *edit) removeBelow(at **node, id string) {
	n := e.own(at)
	n.count--
	if n.leaf() {
		i := n.index.lower(id)
		n.objects = slices.Delete(n.objects, i, i+1)
		n.index = n.index.removed(i)
		return
	}
	i := n.slot(id)
	e.removeBelow(&n.children[i], id)
	switch left := n.children[i].index.count; {
	case left == 0:
		e.drop(n, i)
	case i > 0 && n.children[i-1].index.count+left <= width/2:
		e.merge(n, i-1)
	case i+1 < len(n.children) && left+n.children[i+1].index.count <= width/2:
		e.merge(n, i)
	}
}

// merge moves the slots of child i+1 into child i.
func (e *edit) merge(n *node, i int) {
	left, right := e.own(&n.children[i]), n.children[i+1]
	ids := slices.Concat(left.index.all(), right.index.all())
	if left.leaf() {
		left.objects = append(left.objects, right.objects...)
	} else {
		left.children = append(left.children, right.children...)
		ids[left.index.count] = n.index.ids[i+1]
	}
	left.index = newIndex(left.index.first, ids)
	left.count += right.count
	e.drop(n, i+1)
}

func (e *edit) drop(n *node, i int) {
	n.children = slices.Delete(n.children, i, i+1)
	n.index = n.index.removed(i)
}
