package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTokenFileOfKubernetes(t *testing.T) {
	tokens, err := ParseTokens(strings.NewReader(`first,alice,1,"system:masters,ops"
second,bob,2

third,carol,3,
fourth,"dave, the second",4,system:authenticated,ignored
`))
	require.NoError(t, err)
	assert.Len(t, tokens, 4)
	assert.Equal(t, &User{Name: "alice", UID: "1", Groups: []string{"system:masters", "ops", "system:authenticated"}}, tokens.user("first"))
	assert.Equal(t, &User{Name: "bob", UID: "2", Groups: []string{"system:authenticated"}}, tokens.user("second"))
	assert.Equal(t, &User{Name: "carol", UID: "3", Groups: []string{"system:authenticated"}}, tokens.user("third"))
	assert.Equal(t, &User{Name: "dave, the second", UID: "4", Groups: []string{"system:authenticated"}}, tokens.user("fourth"))
	assert.Nil(t, tokens.user("fifth"))
	assert.Nil(t, tokens.user(""))
}

func TestTokenFileFaultsNameTheLineAndNotTheToken(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"too few columns": {"good,a,1\nsecret,b\n", "line 2: want token, user name and user uid, found 2 columns"},
		"empty token":     {"good,a,1\n\n,b,2\n", "line 3: the token is empty"},
		"blank in token":  {"sec ret,b,2\n", "line 1: the token has a blank in it"},
		"empty user":      {"secret,,2\n", "line 1: the user name is empty"},
		"token twice":     {"secret,a,1\ngood,b,2\nsecret,c,3\n", "line 3: the same token as in line 1"},
		"bare quote":      {"good,a,1\nsecret\",b,2\n", "line 2"},
		"open quote":      {"good,a,1\nsecret,b,2,\"x\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens.csv")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := ReadTokens(path)
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, path)
			assert.NotContains(t, err.Error(), "secret")
			assert.NotContains(t, err.Error(), "sec ret")
		})
	}
}

func TestTokenFileMissing(t *testing.T) {
	_, err := ReadTokens(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
