package fieldmanager_test

import (
	"strings"
	"testing"

	"github.com/leasehold/leasehold/httpapi/fieldmanager"
	"github.com/stretchr/testify/assert"
)

func TestName(t *testing.T) {
	for _, c := range []struct{ manager, agent, want string }{
		{"boss", "kubectl/1.37", "boss"},
		{"", "kubectl/v1.37 (linux/amd64)", "kubectl"},
		{"", "curl", "curl"},
		{"", "", ""},
		{"", "/x", ""},
		{"", "a\x07b\n", "ab"},
		{"", strings.Repeat("u", 200) + "/1", strings.Repeat("u", 128)},
		{"", strings.Repeat("u", 127) + "äx", strings.Repeat("u", 127)},
	} {
		assert.Equal(t, c.want, fieldmanager.Name(c.manager, c.agent))
	}
}
