package fsm

// Key names one object. Its order, and that of every listing, is byte order of resource, then of namespace/name.
//
// The door promises that a resource holds no NUL and a namespace no slash. The machine does not check it again: such a
// key would name the same object as another one, on every replica alike.
type Key struct {
	Resource  string // the plural in the path, for example "leases"
	Namespace string
	Name      string
}

// String returns namespace/name, as a log line or an error shows it.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// appendID appends the string by which the tree orders its objects: resource, NUL, namespace/name. NUL sorts before
// any byte of a resource, so "leases" comes whole before "leases-x".
func (k Key) appendID(dst []byte) []byte {
	dst = append(dst, k.Resource...)
	dst = append(dst, 0)
	dst = append(dst, k.Namespace...)
	dst = append(dst, '/')
	return append(dst, k.Name...)
}

// owned returns k's id in memory of its own, and k with its parts in that same memory.
func (k Key) owned() (id string, key Key) {
	id = string(k.appendID(make([]byte, 0, len(k.Resource)+len(k.Namespace)+len(k.Name)+2)))
	namespace := len(k.Resource) + 1
	name := namespace + len(k.Namespace) + 1
	return id, Key{Resource: id[:namespace-1], Namespace: id[namespace : name-1], Name: id[name:]}
}
