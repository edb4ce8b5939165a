// Package proxy balances TCP connections over the API ports of a cluster's nodes.
//
// It promises that a new connection goes to a node which says that it is ready, as long as there is one, and that no
// connection stays with a node which has stopped being ready. It does not end TLS and never looks at a byte: clients
// see the node's certificate, and client certificates pass through.
//
// Run owns every goroutine: one that accepts, one for each backend's health, two for each connection.
package proxy
