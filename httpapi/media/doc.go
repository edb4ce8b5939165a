// Package media turns Leases into bytes and bytes into Leases: which form a client asks for, JSON, YAML and protobuf in
// both directions, lists put together from items that are already bytes, Tables, PartialObjectMetadata, frames of a watch.
//
// It promises that a client cannot tell its answers from those of the generic serializers of apimachinery: the
// hand-written paths are for speed alone, they give up on whatever is unusual, and property tests compare them with the
// generic ones.
//
// It knows nothing of requests, stores or revisions' meaning, and it owns no goroutine.
package media
