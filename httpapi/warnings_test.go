package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWarningsAreToldOnceEachAndInOrder(t *testing.T) {
	assert.Nil(t, warningHeaders(nil))
	assert.Equal(t, []string{`299 - "b"`, `299 - "a \"quoted\" \\ é"`}, warningHeaders([]string{"b", `a "quoted" \ é`, "b", ""}))
	assert.Equal(t, []string{`299 - "z"`}, warningHeaders([]string{"a\nb", "a\x7f", "a\xff", "z"}), "what a header cannot hold")
	assert.Equal(t, []string{`299 - "line 2: x"`, `299 - "line 3: y"`},
		warningHeaders([]string{"yaml: unmarshal errors:\n  line 2: x\n  line 3: y"}), "YAML's problems are told one by one")
}

func TestWarningsAreShortenedWhenTheyAreTooMuch(t *testing.T) {
	long := strings.Repeat("é", 3000)
	assert.Equal(t, []string{`299 - "` + long + `"`}, warningHeaders([]string{long}), "much, but not too much")
	assert.Equal(t, []string{`299 - "` + long[:2*256] + `"`, `299 - "` + strings.Repeat("x", 256) + `"`, `299 - "z"`},
		warningHeaders([]string{long, strings.Repeat("x", 2000), "z"}))

	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("%03d%s", i, strings.Repeat("x", 1000)))
	}
	assert.Len(t, warningHeaders(many), maxWarnings/maxWarning)
}

// TestWarningsOfALargeBodyAreBounded sends fields that are unknown, with names that are long.
func TestWarningsOfALargeBodyAreBounded(t *testing.T) {
	d := openDoor(t)
	var fields strings.Builder
	for i := range 100 {
		fmt.Fprintf(&fields, `"%03d%s":1,`, i, strings.Repeat("x", 10000))
	}
	got := d.do(t, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/ns/leases", `{"metadata":{"name":"a"},`+fields.String()+`"spec":{}}`)
	require.Equal(t, http.StatusCreated, got.StatusCode, got.body)
	assert.Less(t, len(strings.Join(got.Header["Warning"], "")), 2*maxWarnings)
	assert.NotEmpty(t, got.Header["Warning"])
}
