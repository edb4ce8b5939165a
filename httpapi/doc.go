// Package httpapi is the door: it serves the coordination.k8s.io API over HTTP from one node of a cluster.
//
// Everything that is Kubernetes is decided here, before the log: decoding, defaults, validation, patches, field
// ownership, finalizers, encodings. It never asks who leads. A verb is a function from a request value to a response
// value or an error; only respond.go and watch.go write to the client, and errors.go alone turns errors into a Status.
package httpapi
