// Package nemesis does harm: kinds of faults, a seeded schedule of them in independent streams that overlap, and the
// healing at the end. It knows what to do to a cluster, not how: that is the Target's.
//
// Three rules keep a run meaningful. Whatever faults meet, the cluster is told one thing that holds for all of them, and
// what is bad for two reasons is good again when both are gone. Files are damaged in one minority alone, and given back
// only to a node that did nothing with the damaged ones. Every fault that was started is stopped, and in the end all is
// healed, also when the run is broken off.
//
// A fault that shows no effect is on record as one that was not felt: what shows it is looked for in what the nodes say of
// themselves and in what clients went through, and only a change since the fault struck counts.
//
// Run owns all goroutines of the room and waits for them.
package nemesis

import "errors"

// ErrUnsupported says that a fault cannot be done in this place.
var ErrUnsupported = errors.New("not possible here")
