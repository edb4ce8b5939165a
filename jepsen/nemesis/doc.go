// Package nemesis does harm: kinds of faults, a seeded schedule of them in independent streams that overlap, and the
// healing at the end. It knows what to do to a cluster, not how: that is the Target's.
package nemesis

import "errors"

// ErrUnsupported says that a fault cannot be done in this place.
var ErrUnsupported = errors.New("not possible here")
