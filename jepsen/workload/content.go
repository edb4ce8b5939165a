package workload

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/leasehold/leasehold/jepsen/history"
)

// leaseSeconds is the leaseDurationSeconds of all objects but those of elections.
const leaseSeconds = 15

// fat begins the names of objects that are heavy, by the same text in each version: some changes of one are more than lies
// in the buffers between a server and a watch that is not read.
const fat = "fat"

// usualWeight is how many bytes of text make them so.
const usualWeight = 128 << 10

func weight(bytes int) string { return strings.Repeat("0123456789abcdef", bytes/16) }

// content is what a write puts into an object: everything that the object then holds but what the server adds.
type content struct {
	Key      string // namespace/name, or namespace/ where the server makes the name
	Prefix   string // generateName
	UID      string // precondition
	Revision string // precondition

	ID          string
	Group       string
	Holder      string
	Transitions int32
	Elements    []string
	Renewed     string // renewTime, "" for none
	Seconds     int32  // leaseDurationSeconds, leaseSeconds if 0
	Weight      int    // of a heavy object, in bytes, usualWeight if 0
}

// same is the content that an object has already. An update with it, conditional on the version, changes nothing.
func same(v history.Version) content {
	return content{Key: v.Key, UID: v.UID, Revision: text(v.Revision), ID: v.ID, Group: v.Group, Holder: v.Holder,
		Transitions: v.Transitions, Elements: v.Elements}
}

func (c content) namespace() string {
	namespace, _, _ := strings.Cut(c.Key, "/")
	return namespace
}

func (c content) name() string {
	_, name, _ := strings.Cut(c.Key, "/")
	return name
}

// request is what the history says of a write of this content.
func (c content) request() history.Request {
	return history.Request{Key: c.Key, ID: c.ID, UID: c.UID, Revision: c.Revision, Group: c.Group, Holder: c.Holder, Transitions: c.Transitions,
		Generate: c.Prefix != ""}
}

// whole is the body of a create or an update.
func (c content) whole() []byte {
	annotations := map[string]string{history.IDAnnotation: c.ID}
	if strings.HasPrefix(c.name(), fat) {
		annotations["jepsen/weight"] = weight(cmp.Or(c.Weight, usualWeight))
	}
	metadata := map[string]any{"namespace": c.namespace(), "annotations": annotations}
	set(metadata, "name", c.name())
	set(metadata, "generateName", c.Prefix)
	set(metadata, "uid", c.UID)
	set(metadata, "resourceVersion", c.Revision)
	if c.Group != "" {
		metadata["labels"] = map[string]string{history.GroupLabel: c.Group}
	}
	if len(c.Elements) > 0 {
		metadata["finalizers"] = finalizers(c.Elements)
	}
	return encode(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": c.spec()})
}

func (c content) spec() map[string]any {
	spec := map[string]any{"leaseTransitions": c.Transitions, "leaseDurationSeconds": c.Seconds}
	if c.Seconds == 0 {
		spec["leaseDurationSeconds"] = leaseSeconds
	}
	set(spec, "holderIdentity", c.Holder)
	set(spec, "renewTime", c.Renewed)
	return spec
}

// merge is the body of a merge patch, which a strategic merge patch reads alike: it sets what the content names.
func (c content) merge() []byte {
	metadata := map[string]any{"annotations": map[string]string{history.IDAnnotation: c.ID}}
	set(metadata, "uid", c.UID)
	set(metadata, "resourceVersion", c.Revision)
	if c.Group != "" {
		metadata["labels"] = map[string]string{history.GroupLabel: c.Group}
	}
	return encode(map[string]any{"metadata": metadata, "spec": c.spec()})
}

// steps is the body of a JSON patch to the same effect, for an object that the harness made. An element goes to the end
// of the list that is there.
func (c content) steps(element string) []byte {
	type step struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	steps := []step{{"add", "/metadata/annotations/" + strings.ReplaceAll(history.IDAnnotation, "/", "~1"), c.ID}}
	if c.UID != "" {
		steps = append(steps, step{"replace", "/metadata/uid", c.UID})
	}
	if c.Revision != "" {
		steps = append(steps, step{"replace", "/metadata/resourceVersion", c.Revision})
	}
	if c.Group != "" {
		steps = append(steps, step{"add", "/metadata/labels", map[string]string{history.GroupLabel: c.Group}})
	}
	if element != "" {
		return encode(append(steps, step{"add", "/metadata/finalizers/-", history.ElementPrefix + element}))
	}
	return encode(append(steps, step{"replace", "/spec", c.spec()}))
}

// finalizers are elements as they stand in an object.
func finalizers(elements []string) []string {
	all := make([]string, len(elements))
	for i, element := range elements {
		all[i] = history.ElementPrefix + element
	}
	return all
}

func set(fields map[string]any, name, value string) {
	if value != "" {
		fields[name] = value
	}
}

// encode writes what can be written: maps, slices, texts and numbers.
func encode(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // not a value of the above
	}
	return body
}
