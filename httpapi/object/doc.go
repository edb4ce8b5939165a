// Package object knows what every object of the API has, of whatever kind: its metadata, and what the server itself writes
// there: system fields, generated names, deletion marks. It follows kube-apiserver 1.37.
//
// Everything here is a function of its arguments. The clock and the uid come in as values, problems go out as
// field.ErrorList or as errors of this package; nothing here knows HTTP, the store, who asks, or any one kind. Arguments
// named current are never changed, arguments named next are the caller's own copy and are.
package object
