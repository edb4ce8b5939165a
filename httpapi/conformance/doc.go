// Package conformance holds conversations with a server of the Kubernetes API and what a kube-apiserver 1.37.2 answered in
// each of them, and holds the same conversations with another server: any, at any addresses.
//
// A Corpus is cases with their recorded answers. Check runs cases against a Server and returns a Report, which names every
// difference. An Exception is an answer of our own in place of a recorded one, with the rule it stands for; it is compared as
// strictly, and one that did not occur is a difference too. Human sentences and lesser headers are compared and counted
// apart, since no client depends on them; the recordings hold hashes of sentences only.
//
// The package speaks HTTP alone and knows nothing of the server's inside. It is no part of the product.
package conformance
