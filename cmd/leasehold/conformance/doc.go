// Package conformance holds the cases of httpapi/conformance with clusters of three real processes, each request sent to
// another node than the one before. It has tests only.
package conformance
