// Package discovery tells clients what is served here: the groups, versions and resources in both of Kubernetes' forms,
// /version, and the OpenAPI descriptions that kubectl explains and validates with.
//
// All documents are made once, at the start, in every form in which they can be asked for; to answer is to choose one
// of them. Except for /version they are the same bytes on every node of a release, so that their ETags agree whichever
// node a client reaches. The OpenAPI descriptions are made by the generator in specgen and are embedded. The package
// knows nothing of what is stored and of who may ask.
package discovery

//go:generate go run ./specgen
