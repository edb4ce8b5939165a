// Package report shows a run to people: the verdict with the first violation on top, explained in plain words and in a
// picture of the operations concerned; pictures over the whole run with its faults behind; and a browser over all runs.
//
// Every file it writes stands alone: no script is needed, nothing is fetched, and it works from a disk as from a server.
// A picture's size is bounded, however long the history: what falls on the same spot is drawn once, and what falls alone
// is always drawn. It judges nothing: that is check's.
//
// It owns no goroutine but those of the server that Serve runs, and Serve waits for them.
package report
