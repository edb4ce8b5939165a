// Package e2e shows Leasehold working: real processes, real clients, processes that die by SIGKILL.
//
// It is a module of its own, so that heavy clients which only tests want stay off the product's dependency list. It
// builds the binary from the repository that it lies in, and knows nothing of it but its command line and its API.
package e2e
