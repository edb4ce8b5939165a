package discovery

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// apiVersions is the document at /api. Unlike the others it has no apiVersion, and never had. Addresses by client
// network are a thing of the past; the field is there because some clients insist on it.
func apiVersions(core group) *metav1.APIVersions {
	list := &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
		Versions:                   []string{},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
	for _, v := range core.versions {
		list.Versions = append(list.Versions, v.Version)
	}
	return list
}

// apiGroupList is the document at /apis.
func apiGroupList(groups []group) *metav1.APIGroupList {
	list := &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"},
		Groups:   []metav1.APIGroup{},
	}
	for i := range groups {
		g := apiGroup(&groups[i])
		g.TypeMeta = metav1.TypeMeta{}
		list.Groups = append(list.Groups, *g)
	}
	return list
}

// apiGroup is the document at /apis/GROUP.
func apiGroup(g *group) *metav1.APIGroup {
	out := &metav1.APIGroup{
		TypeMeta:         metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"},
		Name:             g.name,
		PreferredVersion: g.versions[0].forDiscovery(),
	}
	for i := range g.versions {
		out.Versions = append(out.Versions, g.versions[i].forDiscovery())
	}
	return out
}

// apiResourceList is the document at /apis/GROUP/VERSION and /api/v1; the latter has no apiVersion.
func apiResourceList(v *groupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"},
		GroupVersion: v.String(),
		APIResources: []metav1.APIResource{},
	}
	if v.Group == "" {
		list.APIVersion = ""
	}
	for _, r := range v.resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind,
			Verbs: r.Verbs, ShortNames: r.ShortNames, StorageVersionHash: r.storageHash(),
		})
	}
	return list
}
