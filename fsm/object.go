package fsm

import "sync/atomic"

// Object is one version of one stored object. It never changes.
type Object struct {
	Key      Key
	UID      string
	Revision uint64 // the change that made this version
	Created  uint64 // the change that made the first version with this UID
	Data     []byte // as it came in the command; read only

	rendering atomic.Pointer[any]
}

// Rendering returns what the door made of this version. make is called when nothing has been kept yet; callers that
// race may each call it, but all get the same value. The machine itself never looks at it.
func (o *Object) Rendering(make func() any) any {
	if kept := o.rendering.Load(); kept != nil {
		return *kept
	}
	made := make()
	if o.rendering.CompareAndSwap(nil, &made) {
		return made
	}
	return *o.rendering.Load()
}
