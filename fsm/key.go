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

// owned returns k's id, k and a UID in one piece of memory of their own. A look-up reads the id, then the UID that the
// client expects: they had better lie side by side.
func (k Key) owned(uid string) (id string, key Key, ownUID string) {
	size := len(k.Resource) + len(k.Namespace) + len(k.Name) + 2
	all := string(append(k.appendID(make([]byte, 0, size+len(uid))), uid...))
	namespace := len(k.Resource) + 1
	name := namespace + len(k.Namespace) + 1
	return all[:size], Key{Resource: all[:namespace-1], Namespace: all[namespace : name-1], Name: all[name:size]}, all[size:]
}
