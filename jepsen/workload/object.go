package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// object is a Lease as far as the harness reads it, or any other object's metadata.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		CreationTimestamp string            `json:"creationTimestamp"`
		Annotations       map[string]string `json:"annotations"`
		Labels            map[string]string `json:"labels"`
		Finalizers        []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		HolderIdentity   string `json:"holderIdentity"`
		LeaseTransitions int32  `json:"leaseTransitions"`
	} `json:"spec"`
}

// version reads an object. What is not of the form that the API promises is told, and the rest read all the same.
func version(raw []byte) (v history.Version, malformed string) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return v, fmt.Sprintf("an object that is no Lease: %v", err)
	}
	var faults []string
	revision, err := parseRevision(o.Metadata.ResourceVersion)
	if err != nil {
		faults = append(faults, err.Error())
	}
	created, err := time.Parse(time.RFC3339, o.Metadata.CreationTimestamp)
	if err != nil {
		faults = append(faults, fmt.Sprintf("creationTimestamp %q", o.Metadata.CreationTimestamp))
	}
	if o.Metadata.UID == "" || o.Metadata.Name == "" || o.Metadata.Namespace == "" {
		faults = append(faults, "an object without uid, name or namespace")
	}
	v = history.Version{
		Key:         o.Metadata.Namespace + "/" + o.Metadata.Name,
		UID:         o.Metadata.UID,
		Revision:    revision,
		ID:          o.Metadata.Annotations[history.IDAnnotation],
		Group:       o.Metadata.Labels[history.GroupLabel],
		Holder:      o.Spec.HolderIdentity,
		Transitions: o.Spec.LeaseTransitions,
		Digest:      digest(raw),
	}
	if err == nil {
		v.Created = created.Unix()
	}
	for _, finalizer := range o.Metadata.Finalizers {
		v.Elements = append(v.Elements, strings.TrimPrefix(finalizer, history.ElementPrefix))
	}
	return v, strings.Join(faults, "; ")
}

// parseRevision reads a resourceVersion of the form that the API promises: a decimal number above zero, without leading
// zeros, that fits into 64 bits.
func parseRevision(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || s[0] < '1' || s[0] > '9' {
		return 0, fmt.Errorf("resourceVersion %q", s)
	}
	return n, nil
}

// digest is of all that an object holds but what may differ between two who see one version of it: kind and apiVersion,
// which items of a list lack, and the resourceVersion, which is that of the deletion in the event that tells of it.
func digest(raw []byte) uint64 {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil {
		return 0
	}
	delete(fields, "kind")
	delete(fields, "apiVersion")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
	}
	canonical, err := json.Marshal(fields) // sorts the names
	if err != nil {
		return 0
	}
	sum := fnv.New64a()
	sum.Write(canonical)
	return sum.Sum64()
}
