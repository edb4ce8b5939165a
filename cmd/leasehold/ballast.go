package main

// ballastBytes is memory that a node reserves and never touches, so it is never resident. What it is for is the garbage collector's
// arithmetic: a collection begins when as much has been allocated as was alive after the last one, the ballast included.
// A node with a thousand Leases keeps a few tens of megabytes alive and makes that much garbage several times a
// second under load; with the ballast it collects a fraction as often. The price is bounded: up to ballastBytes more
// garbage lies about between two collections, whatever the size of the heap.
const ballastBytes = 128 << 20

// newBallast returns the ballast, which must be kept alive for as long as the node runs. Whoever sets the collector by
// GOGC or GOMEMLIMIT knows better: then there is none.
func newBallast(lookup func(string) (string, bool)) []byte {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := lookup(name); set {
			return nil
		}
	}
	return make([]byte, ballastBytes)
}
