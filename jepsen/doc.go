// Package jepsen will be the chaos harness: workloads, faults, checkers and a report. It speaks HTTP only and has a model
// of its own, so that it shares no mistake with what it tests. Nothing of it is built yet.
package jepsen
