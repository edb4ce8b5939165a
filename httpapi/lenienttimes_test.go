package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lenient(c *Config) { c.LenientMicroTime, c.CBOR = true, true }

// timed is a kind that has times.
type timed struct {
	path, apiVersion, kind string
	spec                   string // what it must have beside its times
	times                  [2]string
}

var timedKinds = []timed{
	{leasesPath, "coordination.k8s.io/v1", "Lease", "", [2]string{"acquireTime", "renewTime"}},
	{betasPath, "coordination.k8s.io/v1beta1", "LeaseCandidate",
		`"leaseName":"l","binaryVersion":"1.37.0","emulationVersion":"1.37.0","strategy":"OldestEmulationVersion",`, [2]string{"pingTime", "renewTime"}},
	{alphasPath, "coordination.k8s.io/v1alpha2", "LeaseCandidate",
		`"leaseName":"l","binaryVersion":"1.37.0","emulationVersion":"1.37.0","strategy":"OldestEmulationVersion",`, [2]string{"pingTime", "renewTime"}},
}

// body is an object whose two times are the same.
func (k timed) body(name, version, at string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"resourceVersion":%q},"spec":{%s%q:%q,%q:%q}}`,
		k.apiVersion, k.kind, name, version, k.spec, k.times[0], at, k.times[1], at)
}

// timeWrite is a way to write times, over an object named a that exists, or creating one.
type timeWrite struct {
	name, method, path, contentType string
	body                            func(t *testing.T, k timed, version, at string) string
	strict                          int // the code when such a time is refused
}

var timeWrites = []timeWrite{
	{"create", "POST", "", "application/json", func(_ *testing.T, k timed, _, at string) string { return k.body("new", "", at) }, 400},
	{"create in YAML", "POST", "", "application/yaml", func(_ *testing.T, k timed, _, at string) string {
		return fmt.Sprintf("metadata: {name: new}\nspec: {%s\n  %s: %s,\n  %s: %s}\n", strings.NewReplacer(`":`, `": `).Replace(k.spec), k.times[0], at, k.times[1], at)
	}, 400},
	{"create in CBOR", "POST", "", "application/cbor", func(t *testing.T, k timed, _, at string) string { return inCBOR(t, k.body("new", "", at)) }, 400},
	{"update", "PUT", "/a", "application/json", func(_ *testing.T, k timed, version, at string) string { return k.body("a", version, at) }, 400},
	{"merge patch", "PATCH", "/a", "application/merge-patch+json", func(_ *testing.T, k timed, _, at string) string {
		return fmt.Sprintf(`{"spec":{%q:%q,%q:%q}}`, k.times[0], at, k.times[1], at)
	}, 422},
	{"strategic merge patch", "PATCH", "/a", "application/strategic-merge-patch+json", func(_ *testing.T, k timed, _, at string) string {
		return fmt.Sprintf(`{"spec":{%q:%q,%q:%q}}`, k.times[0], at, k.times[1], at)
	}, 422},
	{"JSON patch", "PATCH", "/a", "application/json-patch+json", func(_ *testing.T, k timed, _, at string) string {
		return fmt.Sprintf(`[{"op":"add","path":"/spec/%s","value":%q},{"op":"add","path":"/spec/%s","value":%q}]`, k.times[0], at, k.times[1], at)
	}, 422},
	{"apply", "PATCH", "/a?fieldManager=m&force=true", "application/apply-patch+yaml", func(_ *testing.T, k timed, _, at string) string {
		return strings.Replace(k.body("a", "", at), `,"resourceVersion":""`, "", 1)
	}, 500},
	{"apply in CBOR", "PATCH", "/a?fieldManager=m&force=true", "application/apply-patch+cbor", func(t *testing.T, k timed, _, at string) string {
		return inCBOR(t, strings.Replace(k.body("a", "", at), `,"resourceVersion":""`, "", 1))
	}, 500},
}

// tryWrite makes an object, where there was none, and writes such a time.
func (d *door) tryWrite(t *testing.T, k timed, w timeWrite, at string) answer {
	t.Helper()
	require.Equal(t, 200, d.do(t, "DELETE", k.path, "").StatusCode)
	made := d.do(t, "POST", k.path, k.body("a", "", "1999-01-01T00:00:00.000001Z"))
	require.Equal(t, 201, made.StatusCode, made.body)
	var object struct {
		Metadata struct{ ResourceVersion string }
	}
	require.NoError(t, json.Unmarshal([]byte(made.body), &object))
	return d.do(t, w.method, k.path+w.path, w.body(t, k, object.Metadata.ResourceVersion, at), "Content-Type", w.contentType)
}

func TestLenientTimesInAllThatIsWritten(t *testing.T) {
	lenient, strict := openDoor(t, lenient), openDoor(t, withCBOR)
	for _, k := range timedKinds {
		for _, w := range timeWrites {
			t.Run(k.apiVersion+" "+w.name, func(t *testing.T) {
				for given, six := range map[string]string{
					"2024-01-02T03:04:05Z":           "2024-01-02T03:04:05.000000Z", // Python's isoformat() of a whole second
					"2024-01-02T03:04:05.180Z":       "2024-01-02T03:04:05.180000Z", // JavaScript
					"2024-01-02T03:04:05.123456789Z": "2024-01-02T03:04:05.123456Z", // Rust
					"2024-01-02T03:04:05+02:00":      "2024-01-02T01:04:05.000000Z",
					"2024-01-02T03:04:05.654321Z":    "2024-01-02T03:04:05.654321Z",
				} {
					got := lenient.tryWrite(t, k, w, given)
					require.Less(t, got.StatusCode, 300, got.body)
					for _, name := range k.times {
						assert.Contains(t, got.body, `"`+name+`":"`+six+`"`)
					}
				}
				for _, wrong := range []string{"2024-01-02t03:04:05Z", "2024-01-02 03:04:05Z", "2024-01-02T03:04:05", "2024-01-02T03:04:05.1234567890Z"} {
					assert.Equal(t, w.strict, lenient.tryWrite(t, k, w, wrong).StatusCode, wrong)
				}
				for _, three := range []string{"2024-01-02T03:04:05Z", "2024-01-02T03:04:05.180Z", "2024-01-02T03:04:05.123456789Z"} {
					assert.Equal(t, w.strict, strict.tryWrite(t, k, w, three).StatusCode, three)
				}
			})
		}
	}
}

// What is written again in the client's own form is what is stored, so nothing changes, and nobody is in anybody's way.
func TestATimeWrittenAgainIsNoChange(t *testing.T) {
	d := openDoor(t, lenient)
	apply := func(manager, at string) answer {
		return d.do(t, "PATCH", leasesPath+"/a?fieldManager="+manager,
			`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"renewTime":"`+at+`"}}`, "Content-Type", "application/apply-patch+yaml")
	}
	made := apply("alpha", "2024-01-02T03:04:05Z")
	require.Equal(t, 201, made.StatusCode)
	require.Contains(t, made.body, `"renewTime":"2024-01-02T03:04:05.000000Z"`)
	assert.Equal(t, made.body, d.do(t, "GET", leasesPath+"/a", "").body)
	for _, at := range []string{"2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z", "2024-01-02T03:04:05.000000Z", "2024-01-02T03:04:05.000000999Z"} {
		assert.Equal(t, made.body, apply("alpha", at).body, at)
	}
	for contentType, patch := range map[string]string{
		"merge-patch+json":           `{"spec":{"renewTime":"2024-01-02T03:04:05Z"}}`,
		"strategic-merge-patch+json": `{"spec":{"renewTime":"2024-01-02T03:04:05.0Z"}}`,
		"json-patch+json":            `[{"op":"replace","path":"/spec/renewTime","value":"2024-01-02T03:04:05.000Z"}]`,
	} {
		assert.Equal(t, made.body, d.do(t, "PATCH", leasesPath+"/a", patch, "Content-Type", "application/"+contentType).body, patch)
	}
	shared := apply("beta", "2024-01-02T03:04:05Z")
	assert.Equal(t, 200, shared.StatusCode, "the same time is no conflict")
	assert.Contains(t, shared.body, `"manager":"beta"`)
	assert.Equal(t, 409, apply("beta", "2024-01-02T03:04:06Z").StatusCode)
}
