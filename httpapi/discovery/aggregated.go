package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aggregatedParameters are what a client adds to a media type to ask for everything below /api or /apis in one
// document; v2beta1 has gone from kube-apiserver too.
const aggregatedParameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// isAggregated tells whether a clause of an Accept header asks for that document.
func isAggregated(params map[string]string) bool {
	return params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList"
}

// aggregated is that document for these groups.
func aggregated(groups []group) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, g := range groups {
		if len(g.versions) == 0 {
			continue
		}
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, v := range g.versions {
			item.Versions = append(item.Versions, aggregatedVersion(v))
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func aggregatedVersion(v groupVersion) apidiscoveryv2.APIVersionDiscovery {
	out := apidiscoveryv2.APIVersionDiscovery{Version: v.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, r := range v.resources {
		scope := apidiscoveryv2.ScopeCluster
		if r.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		out.Resources = append(out.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource:         r.Plural,
			SingularResource: r.Singular,
			// Group and version are left out where they are those of the document.
			ResponseKind: &metav1.GroupVersionKind{Kind: r.Kind},
			Scope:        scope,
			ShortNames:   r.ShortNames,
			Verbs:        r.Verbs,
		})
	}
	return out
}
