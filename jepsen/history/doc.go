// Package history is what a run leaves behind: every operation with the times of its call and its answer, every event of
// every watch, every fault, in one file of JSON lines that is written as it happens. Workloads and faults write it; checkers
// and pictures read it, also years later.
package history
