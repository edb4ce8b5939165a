package discovery

import (
	"encoding/json"
	"fmt"
)

// Documents are all documents of a server, by path.
type Documents map[string]*Document

// New makes the documents of a server of these resources, whose own version is own.
func New(own string, resources ...Resource) (Documents, error) {
	documents := Documents{}
	if err := documents.addVersion(own); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	core, groups := groupsOf(resources)
	if err := documents.addCore(core); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	if err := documents.addGroups(groups); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	if err := documents.addOpenAPI(append(groups, core)); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	return documents, nil
}

func (d Documents) addVersion(own string) error {
	text, err := json.MarshalIndent(newVersionInfo(own), "", "  ")
	if err != nil {
		return err
	}
	d["/version"] = &Document{routed: true, single: true, forms: []form{{mediaTypes: []string{jsonType}, contentType: jsonType, body: text}}}
	return nil
}

// addCore adds the group without a name.
func (d Documents) addCore(core group) error {
	if err := d.add("/api", false, apiVersions(core), aggregated([]group{core})); err != nil {
		return err
	}
	for i := range core.versions {
		v := &core.versions[i]
		if err := d.addVersionOf(v); err != nil {
			return err
		}
	}
	return nil
}

func (d Documents) addGroups(groups []group) error {
	if err := d.add("/apis", true, apiGroupList(groups), aggregated(groups)); err != nil {
		return err
	}
	for i := range groups {
		g := &groups[i]
		if err := d.add("/apis/"+g.name, true, apiGroup(g), nil); err != nil {
			return err
		}
		for j := range g.versions {
			v := &g.versions[j]
			if err := d.addVersionOf(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d Documents) addVersionOf(v *groupVersion) error {
	err := d.add(v.path(), false, apiResourceList(v), nil)
	if err == nil {
		d[v.path()].routed = true
	}
	return err
}

// add adds a document, and beside it the aggregated one unless that is nil.
func (d Documents) add(path string, anyMethod bool, plain, aggregated object) error {
	forms, err := formsOf(plain)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if aggregated != nil {
		more, err := aggregatedFormsOf(aggregated)
		if err != nil {
			return fmt.Errorf("%s aggregated: %w", path, err)
		}
		forms = append(forms, more...)
	}
	d[path] = &Document{AnyMethod: anyMethod, forms: forms, path: path}
	return nil
}
