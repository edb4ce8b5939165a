// Package workload is what clients do to a cluster while it suffers, and what they write down of it. Clients speak plain
// HTTP, one attempt an operation, so that what one answer means stays clear; electors alone use client-go, which is then
// what is tried.
package workload
