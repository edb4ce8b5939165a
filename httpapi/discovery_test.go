package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What OpenAPI describes and what is routed are written down in two places.
func TestWhatIsDescribedIsServed(t *testing.T) {
	d := openDoor(t)
	var described struct {
		Paths map[string]map[string]any
	}
	got := d.do(t, "GET", "/openapi/v2", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.NoError(t, json.Unmarshal([]byte(got.body), &described))
	require.NotEmpty(t, described.Paths)

	for path, methods := range described.Paths {
		path = strings.NewReplacer("{namespace}", "ns", "{name}", "none").Replace(path) + "?timeoutSeconds=1"
		if strings.Contains(path, "/watch/") {
			path += "&resourceVersion=x" // a refusal shows as well that there is a watch
		}
		for method := range methods {
			if method == "parameters" {
				continue
			}
			got := d.do(t, strings.ToUpper(method), path, "{}")
			assert.NotEqual(t, http.StatusMethodNotAllowed, got.StatusCode, "%s %s", method, path)
			if got.StatusCode == http.StatusNotFound {
				assert.Contains(t, got.body, `.coordination.k8s.io \"none\" not found`, "%s %s", method, path)
			}
		}
	}
}
