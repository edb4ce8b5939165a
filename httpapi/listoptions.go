package httpapi

import (
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	labelselector "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasehold/leasehold/fsm"
	"github.com/leasehold/leasehold/httpapi/shard"
)

// listOptions are the query of a list, a watch or a deletion of a collection, understood and found valid.
type listOptions struct {
	internalversion.ListOptions
	selector selector
}

// listOptions reads them as kube-apiserver does: what cannot be read is 400, what does not go together is 422.
func (s *server) listOptions(q *request) (*listOptions, error) {
	return s.listOptionsBy(q, runtime.DefaultMetaV1FieldSelectorConversion)
}

// listOptionsBy reads them where other fields than everywhere can be selected by.
func (s *server) listOptionsBy(q *request, selectable fields.TransformFunc) (*listOptions, error) {
	options := &listOptions{selector: selector{kind: q.kind, namespace: q.key.Namespace}}
	if len(q.query) > 0 {
		if err := internalscheme.ParameterCodec.DecodeParameters(q.query, metav1.SchemeGroupVersion, &options.ListOptions); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	internalversion.SetListOptionsDefaults(&options.ListOptions, true)
	if found := internalvalidation.ValidateListOptions(&options.ListOptions, true); len(found) > 0 {
		return nil, invalidOptions("ListOptions", found)
	}
	if err := options.selector.take(options.FieldSelector, options.LabelSelector, selectable); err != nil {
		return nil, badRequest("%v", err)
	}
	var err error
	if options.selector.shard, err = s.shardOf(options.ShardSelector); err != nil {
		return nil, err
	}
	if q.key.Name == "" {
		return options, nil
	}
	// A watch of one object by its path. If there is a field selector, it must fix the same name.
	if options.selector.fields != nil && options.selector.name != q.key.Name {
		return nil, badRequest("fieldSelector metadata.name doesn't match requested name")
	}
	options.selector.name = q.key.Name
	return options, nil
}

// version returns the query's resourceVersion as a number, 0 for none.
func (o *listOptions) version() (uint64, error) { return parseVersion(o.ResourceVersion) }

// selector says which objects a list or a watch is about.
type selector struct {
	kind      *kind
	namespace string                 // of the path; "" for all
	name      string                 // that the field selector fixes; "" for any
	fields    fields.Selector        // nil when there is none
	labels    labelselector.Selector // nil when there is none
	shard     *shard.Selector        // nil when there is none
}

func (s *selector) take(byField fields.Selector, byLabel labelselector.Selector, selectable fields.TransformFunc) error {
	if byLabel != nil && !byLabel.Empty() {
		s.labels = byLabel
	}
	if byField == nil || byField.Empty() {
		return nil
	}
	byField, err := byField.Transform(selectable)
	if err != nil {
		return err
	}
	s.fields = byField
	s.name, _ = byField.RequiresExactMatch("metadata.name")
	return nil
}

// everything says whether the selector leaves nothing of the path's namespace out.
func (s *selector) everything() bool { return s.fields == nil && s.labels == nil && s.shard == nil }

// covers says whether a key can be selected at all.
func (s *selector) covers(key fsm.Key) bool {
	return key.Resource == s.kind.resource.Resource && (s.namespace == "" || s.namespace == key.Namespace) &&
		(s.name == "" || s.name == key.Name) && (s.fields == nil || s.fields.Matches(keyFields(key)))
}

// selects says whether a version whose key is covered is selected.
func (s *selector) selects(object *fsm.Object) bool {
	return (s.shard == nil || s.shard.Selects(object.Key.Namespace, object.UID)) &&
		(s.labels == nil || s.labels.Matches(s.kind.stored(object).Labels()))
}

// shardInfo is what a list tells of its shard.
func (s *selector) shardInfo() *metav1.ShardInfo {
	if s.shard == nil {
		return nil
	}
	return &metav1.ShardInfo{Selector: s.shard.String()}
}

// parseShard reads a query's shardSelector, of which an empty one is none. What is wrong with it is told as 500, as
// kube-apiserver tells it.
func parseShard(text string) (*shard.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := shard.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid shard selector: %w", err)
	}
	return selector, nil
}

// ignoreShard is parseShard where the gate is off.
func ignoreShard(string) (*shard.Selector, error) { return nil, nil }

// keyFields are the fields of an object that can be selected by.
type keyFields fsm.Key

func (k keyFields) Has(name string) bool {
	return name == "metadata.name" || name == "metadata.namespace"
}

func (k keyFields) Get(name string) string {
	switch name {
	case "metadata.name":
		return k.Name
	case "metadata.namespace":
		return k.Namespace
	}
	return ""
}

// version is a revision as clients see it.
func version(revision uint64) string { return strconv.FormatUint(revision, 10) }

// getVersion returns the resourceVersion of a get. Its other options are read and have no meaning.
func getVersion(query url.Values) (given string, revision uint64, err error) {
	given = query.Get("resourceVersion")
	revision, err = parseVersion(given)
	return given, revision, err
}
