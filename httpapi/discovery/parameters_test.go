package discovery

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Generated clients and dashboards know a parameter only if it is described.
func TestEveryParameterOfEveryOperationIsDescribed(t *testing.T) {
	selection := []string{"continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents",
		"shardSelector", "timeoutSeconds"}
	listing := slices.Concat(selection, []string{"allowWatchBookmarks", "watch"})
	writing := []string{"dryRun", "fieldManager", "fieldValidation"}
	deleting := []string{"dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents", "propagationPolicy"}
	deletingAll := slices.Concat(deleting, selection)

	d := documents(t)
	for _, r := range []Resource{Leases(), Candidates("v1beta1"), Candidates("v1alpha2")} {
		root := "/apis/coordination.k8s.io/" + r.Version
		some := "/namespaces/{namespace}/" + r.Plural
		want := map[string][]string{
			"get " + root + "/" + r.Plural:              listing,
			"get " + root + some:                        listing,
			"post " + root + some:                       writing,
			"delete " + root + some:                     deletingAll,
			"get " + root + some + "/{name}":            nil,
			"put " + root + some + "/{name}":            writing,
			"patch " + root + some + "/{name}":          append(writing[:3:3], "force"),
			"delete " + root + some + "/{name}":         deleting,
			"get " + root + "/watch/" + r.Plural:        listing,
			"get " + root + "/watch" + some:             listing,
			"get " + root + "/watch" + some + "/{name}": listing,
		}
		var spec struct {
			Paths map[string]map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal(read(t, d, "/openapi/v3"+root, "Accept", "application/json").Body, &spec))
		type parameter struct{ Name, In, Description string }
		got := map[string][]string{}
		for path, operations := range spec.Paths {
			if path == root+"/" {
				continue // discovery
			}
			var shared []parameter
			if operations["parameters"] != nil {
				require.NoError(t, json.Unmarshal(operations["parameters"], &shared))
			}
			for method, text := range operations {
				if method == "parameters" {
					continue
				}
				var operation struct{ Parameters []parameter }
				require.NoError(t, json.Unmarshal(text, &operation))
				names := []string{}
				for _, p := range slices.Concat(shared, operation.Parameters) {
					assert.NotEmpty(t, p.Description, "%s %s %s", method, path, p.Name)
					if p.In == "query" {
						names = append(names, p.Name)
					}
				}
				got[method+" "+path] = names
			}
		}
		require.Len(t, got, len(want), r.Version)
		for operation, names := range want {
			assert.ElementsMatch(t, append(names[:len(names):len(names)], "pretty"), got[operation], operation)
		}
	}
}
