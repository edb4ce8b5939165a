package httpapi

import (
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	labelselector "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasehold/leasehold/fsm"
)

// foundingNamespaces are there in every cluster from its first day.
var foundingNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// namespacesIn returns the names of the namespaces of a state, in order. It goes from one to the next without looking at
// what is in them.
func (s *server) namespacesIn(state *fsm.State) []string {
	names := slices.Clone(foundingNamespaces)
	for _, resource := range s.resources {
		for after, more := "", true; more; {
			more = false
			for object := range state.Scan(resource, "", after) {
				names = append(names, object.Key.Namespace)
				after, more = object.Key.Namespace+"/\xff", true // beyond all names there are
				break
			}
		}
	}
	slices.Sort(names) // those of the store are in the order of namespace/name, where ns-a comes before ns
	return slices.Compact(names)
}

// listNamespaces answers the namespaces that something is in, and the founding ones, with the parameters of any list.
func (s *server) listNamespaces(q *request) (*response, error) {
	options, err := s.namespaceOptions(q)
	if err != nil {
		return nil, err
	}
	state, after, err := s.listed(q.context(), options)
	if err != nil {
		return nil, err
	}
	limit := int(options.Limit)
	if options.ResourceVersion == "0" {
		limit = 0
	}
	names := s.namespacesIn(state)
	if after != "" {
		at, found := slices.BinarySearch(names, after)
		if found {
			at++
		}
		names = names[at:]
	}
	list := &corev1.NamespaceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"},
		ListMeta: metav1.ListMeta{ResourceVersion: version(state.Revision()), ShardInfo: options.selector.shardInfo()},
		Items:    []corev1.Namespace{},
	}
	last := ""
	for i, name := range names {
		if limit > 0 && len(list.Items) == limit {
			list.Continue = continueAfter(last, "", int64(state.Revision()))
			if options.selector.everything() {
				remaining := int64(len(names) - i)
				list.RemainingItemCount = &remaining
			}
			break
		}
		if options.selector.selectsNamespace(name) {
			list.Items = append(list.Items, namespaceOf(name, state.Revision()))
			last = name
		}
	}
	return &response{code: http.StatusOK, value: list, columns: &namespaceColumns}, nil
}

// namespaceOptions are the options of a list or a watch, with the fields that namespaces can be selected by.
func (s *server) namespaceOptions(q *request) (*listOptions, error) {
	return s.listOptionsBy(q, func(label, value string) (string, string, error) {
		if label == "status.phase" {
			return label, value, nil
		}
		return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
	})
}

// selectsNamespace says whether a namespace is selected.
func (s *selector) selectsNamespace(name string) bool {
	return (s.name == "" || s.name == name) &&
		(s.fields == nil || s.fields.Matches(fields.Set{"metadata.name": name, "status.phase": string(corev1.NamespaceActive)})) &&
		(s.shard == nil || s.shard.Selects("", string(namespaceUID(name)))) &&
		(s.labels == nil || s.labels.Matches(labelselector.Set{corev1.LabelMetadataName: name}))
}

func isFounding(namespace string) bool { return slices.Contains(foundingNamespaces, namespace) }
