package httpapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// FuzzDeleteOptions deletes, with any body in every encoding. Options that ask for a dry run, or for another object, leave
// everything as it is.
func FuzzDeleteOptions(f *testing.F) {
	for i, body := range []string{
		`{}`, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`, `{"kind":"DeleteOptions","apiVersion":"coordination.k8s.io/v1","dryRun":["All"]}`, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":-1}`,
		`{"preconditions":{"uid":"` + heldUID + `","resourceVersion":"1008"}}`, `{"preconditions":{"uid":"x"}}`, `{"preconditions":{"resourceVersion":"1"}}`, `{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Orphan","orphanDependents":true}`,
		`{"orphanDependents":false}`, `{"orphanDependents":true}`, `{"propagationPolicy":"x"}`, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`, `{"dryRun":["All","x"]}`, `{"dryRun":[]}`, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`, `{"kind":"DeleteOptions","apiVersion":"policy/v1"}`,
		`[]`, `null`, `{"gracePeriodSeconds":"x"}`, `{"preconditions":`, `x`,
	} {
		for encoding := range 3 {
			encoded := []byte(body)
			switch encoding {
			case 1:
				if text, err := yaml.JSONToYAML(encoded); err == nil {
					encoded = text
				}
			case 2:
				var options metav1.DeleteOptions
				if yaml.Unmarshal(encoded, &options) != nil {
					continue
				}
				data, err := options.Marshal()
				require.NoError(f, err)
				unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: data}
				if encoded, err = unknown.Marshal(); err != nil {
					f.Fatal(err)
				}
				encoded = append([]byte("k8s\x00"), encoded...)
			}
			f.Add(uint16(encoding+3*(i%5)), encoded)
			f.Add(uint16(encoding), encoded)
		}
	}
	door := openFuzzed(f)
	f.Fuzz(func(t *testing.T, how uint16, body []byte) {
		pick := choice(how)
		encoding := door.encodings[pick.of(len(door.encodings))]
		path := []string{heldPath, fuzzLeases + "/light", fuzzLeases, fuzzLeases + "/marked", fuzzLeases + "/nothing"}[pick.of(5)]
		before := door.stockRevision()
		answer := door.execute(t, call{
			method: http.MethodDelete, target: path + []string{"", "?propagationPolicy=Orphan", "?labelSelector=app"}[pick.of(3)], body: string(body),
			header: as(adminToken, "Content-Type", encoding.mediaType),
		})
		var options metav1.DeleteOptions
		if len(body) == 0 || answer.code >= 400 {
			return
		}
		if _, _, err := encoding.serializer.Decode(body, &deleteOptionsKind, &options); err != nil {
			return // not strictly options, but accepted
		}
		if len(options.DryRun) > 0 && door.node.State().Revision() != before {
			t.Fatalf("a dry run wrote something")
		}
		if wanted := options.Preconditions; wanted != nil && wanted.UID != nil && *wanted.UID != heldUID && path == heldPath {
			t.Fatalf("another object was deleted")
		}
	})
}

var deleteOptionsKind = metav1.SchemeGroupVersion.WithKind("DeleteOptions")
