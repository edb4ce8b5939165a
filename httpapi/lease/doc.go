// Package lease knows what a valid Lease is and what the server itself writes into one: system fields, generated
// names, deletion marks. It follows the coordination.k8s.io/v1 strategy of kube-apiserver 1.37.
//
// Everything here is a function of its arguments. The clock and the uid come in as values, problems go out as
// field.ErrorList or as errors of this package; nothing here knows HTTP, the store or who asks. Arguments named
// current are never changed, arguments named next are the caller's own copy and are.
package lease
