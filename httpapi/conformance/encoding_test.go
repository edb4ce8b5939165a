package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnObjectIsTheSameInEveryEncoding(t *testing.T) {
	t.Parallel()
	const text = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"holderIdentity":"x","leaseDurationSeconds":5}}`
	want := decode("application/json", []byte(text))
	require.IsType(t, map[string]any{}, want)
	for encoding, contentType := range map[string]string{"": "application/json;as=x", "yaml": "application/yaml", "cbor": "application/cbor", "protobuf": protobufType} {
		body, err := encode([]byte(text), encoding)
		require.NoError(t, err)
		assert.Equal(t, jsonOf(want), jsonOf(decode(contentType, body)), contentType)
		assert.Equal(t, "}"+string(body), decode(contentType, append([]byte("}"), body...)), "what cannot be read stays text")
	}
	_, err := encode([]byte(text), "xml")
	require.Error(t, err)
}

func TestKindGoesBeforeFieldsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `{"apiVersion":"g/v","kind":"K"}`, withKind("g/v", "K", []byte("{ }")))
	assert.Equal(t, `{"apiVersion":"g/v","kind":"K","a":1,"a":2}`, withKind("g/v", "K", []byte(`{"a":1,"a":2}`)))
}
