// Package shard says which objects a client that takes a part of a collection gets to see: what the query's shardSelector
// means, as KEP-5866 and kube-apiserver behind its gate ShardedListAndWatch define it.
//
// It promises that a selector which kube-apiserver accepts selects the same objects here and is told in the same words, and
// that the shards of a partition of the hashes cover each object exactly once. It knows nothing of requests and owns no
// goroutine.
package shard
