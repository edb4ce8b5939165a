package fsm

// Key names one object. Its order, and that of every listing, is byte order of resource, then of namespace/name.
type Key struct {
	Resource  string // the plural in the path, for example "leases"
	Namespace string
	Name      string
}

// String returns namespace/name, as a log line or an error shows it.
func (k Key) String() string { return k.Namespace + "/" + k.Name }
