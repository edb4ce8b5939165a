// Package candidate knows what a valid LeaseCandidate is: the rules of its spec, and when two say the same. What all
// objects have is in package object. It follows the coordination.k8s.io/v1beta1 strategy of kube-apiserver 1.37.
//
// Everything here is a function of its arguments; problems go out as field.ErrorList. Nothing here knows HTTP, the store
// or who asks, and nothing is changed.
package candidate
