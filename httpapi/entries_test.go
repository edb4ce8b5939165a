package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
)

// A body of 3 MiB holds more labels, finalizers or owners than anybody could find the owners of in time.
func TestSoManyEntriesAreRefused(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, http.StatusCreated, d.do(t, http.MethodPost, leasesPath, `{"metadata":{"name":"a"}}`).StatusCode)
	many := fieldmanager.MaxEntries + 1
	list := func(form string) string {
		entries := make([]string, many)
		for i := range entries {
			entries[i] = fmt.Sprintf(form, i)
		}
		return strings.Join(entries, ",")
	}
	for name, field := range map[string]string{
		"labels":     `"labels":{` + list(`"k%d":"v"`) + `}`,
		"finalizers": `"finalizers":[` + list(`"example.com/%d"`) + `]`,
		"owners":     `"ownerReferences":[` + list(`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"%d"}`) + `]`,
		"managers":   `"managedFields":[` + list(`{"manager":"m%d","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}`) + `]`,
	} {
		for _, c := range []struct{ method, path, contentType, name string }{
			{http.MethodPost, "", "application/json", "b"},
			{http.MethodPut, "/b", "application/json", "b"},
			{http.MethodPut, "/a", "application/json", "a"},
			{http.MethodPatch, "/a", "application/merge-patch+json", "a"},
			{http.MethodPatch, "/a", "application/strategic-merge-patch+json", "a"},
			{http.MethodPatch, "/a?fieldManager=m", "application/apply-patch+yaml", "a"},
		} {
			body := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"` + c.name + `",` + field + `}}`
			answer := d.do(t, c.method, leasesPath+c.path, body, "Content-Type", c.contentType)
			assert.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode, "%s: %s %s as %s", name, c.method, c.path, c.contentType)
		}
	}
}
