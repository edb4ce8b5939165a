package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatStandsForWhat(t *testing.T) {
	t.Parallel()
	s := scope{
		names: map[string]string{"ns": "one", "leases": "/x/$(ns)/leases"},
		answers: map[string]any{"c": map[string]any{
			"metadata": map[string]any{"resourceVersion": "41", "labels": map[string]any{"example.com/a": "x"}},
			"items":    []any{map[string]any{"name": "b", "inner": map[string]any{"k": "v"}}},
		}},
	}
	for text, want := range map[string]string{
		"$(leases)/a":                              "/x/one/leases/a",
		"$(c.metadata.resourceVersion)":            "41",
		"$(c.metadata.resourceVersion+1000)":       "1041",
		"$(c.metadata.resourceVersion-1)":          "40",
		"$(c.items.0.name)":                        "b",
		"$(c.items[name=b].inner.k)":               "v",
		"$(c.items[inner.k=v].name)":               "b",
		"$(c.metadata.labels[example.com/a])":      "x",
		`[0$(repeat:,{"a":1}:2)]`:                  `[0,{"a":1},{"a":1}]`,
		"$(repeat:a:b:2) and $(ns), but not $(ns ": "a:ba:b and one, but not $(ns ",
	} {
		got, err := s.fill(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"$(d.name)", "$(c.items.1.name)", "$(c.items.-1.name)", "$(repeat:a)", "$(repeat:a:-1)", "$(c.items.0.name+1)"} {
		_, err := s.fill(text)
		assert.Error(t, err, text)
	}
}
