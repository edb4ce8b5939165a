package media

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

var beta, alpha = Candidates("v1beta1"), Candidates("v1alpha2")

// candidateBody is what client-go's coordinated election creates.
const candidateBody = `{"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1beta1","metadata":{"name":"kcm-1","namespace":"kube-system","creationTimestamp":null},"spec":{"leaseName":"kcm","pingTime":"2024-01-01T00:00:00.000001Z","renewTime":"2024-01-01T00:00:02.000001Z","binaryVersion":"1.33.0","emulationVersion":"1.32.0","strategy":"OldestEmulationVersion"}}`

func TestCandidatesAreScannedAsTheGenericDecoderReadsThem(t *testing.T) {
	require.True(t, sameAnswer(t, beta, []byte(candidateBody)))
	require.False(t, sameAnswer(t, alpha, []byte(candidateBody)), "of another version")
	rapid.Check(t, func(t *rapid.T) {
		sameAnswer(t, beta, []byte(damaged(t, candidateBody)))
		if rendered, err := alpha.EncodeJSON(candidates.Draw(t, "candidate")); err == nil {
			sameAnswer(t, alpha, []byte(damaged(t, string(rendered.JSON()))))
		}
	})
}

func TestStoredCandidatesAreRenderedAsTheyAreEncoded(t *testing.T) {
	ordinary := false
	rapid.Check(t, func(t *rapid.T) {
		candidate := candidates.Draw(t, "candidate")
		candidate.ResourceVersion = ""
		data, err := candidate.Marshal()
		require.NoError(t, err)
		from := Stored{Codec: beta, Data: data, Version: 7}
		shown, err := from.Decode()
		require.NoError(t, err)
		want, err := beta.EncodeJSON(shown)
		if err != nil {
			return
		}
		got, err := from.Render()
		require.NoError(t, err)
		assert.Equal(t, string(want.JSON()), string(got.JSON()))
		_, transcoded := from.transcode()
		ordinary = ordinary || transcoded

		_, err = Stored{Codec: beta, Data: data[:len(data)-1], Version: 7}.Render()
		assert.Error(t, err)
	})
	assert.True(t, ordinary, "none was transcoded")
}

func TestOneRenderingDoesForAllVersionsOfAKind(t *testing.T) {
	read, _, err := beta.Decode([]byte(candidateBody), JSON, Strict)
	require.NoError(t, err)
	rendered, err := beta.EncodeJSON(read)
	require.NoError(t, err)
	other, err := alpha.EncodeJSON(read)
	require.NoError(t, err)
	assert.Equal(t, string(other.JSON()), string(rendered.As(alpha).JSON()))
	assert.Equal(t, string(other.Metadata()), string(rendered.As(alpha).Metadata()))
	assert.Equal(t, rendered, rendered.As(alpha).As(beta))
}

func TestBodiesOfOtherVersionsAndKindsAreRefused(t *testing.T) {
	for _, c := range []struct {
		codec      *Codec
		body, want string
	}{
		{alpha, candidateBody, "the API version in the data (coordination.k8s.io/v1beta1) does not match the expected API version (coordination.k8s.io/v1alpha2)"},
		{Leases, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1beta1"}`, "the API version in the data (coordination.k8s.io/v1beta1) does not match the expected API version (coordination.k8s.io/v1)"},
		{Leases, candidateBody, `LeaseCandidate in version "v1beta1" cannot be handled as a Lease: converting (v1beta1.LeaseCandidate) to (coordination.Lease): unknown conversion`},
		{beta, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`, `Lease in version "v1" cannot be handled as a LeaseCandidate: converting (v1.Lease) to (coordination.LeaseCandidate): unknown conversion`},
		{beta, strings.Replace(candidateBody, "v1beta1", "v1", 1), `LeaseCandidate in version "v1" cannot be handled as a LeaseCandidate: no kind "LeaseCandidate" is registered for version "coordination.k8s.io/v1"`},
		{beta, `{"kind":"LeaseCandidateList","apiVersion":"coordination.k8s.io/v1beta1","items":[]}`, `LeaseCandidateList in version "v1beta1" cannot be handled as a LeaseCandidate: converting (v1beta1.LeaseCandidateList) to (coordination.LeaseCandidate): unknown conversion`},
	} {
		_, _, err := c.codec.Decode([]byte(c.body), JSON, Warn)
		var bad *BodyError
		if assert.ErrorAs(t, err, &bad, c.body) {
			assert.Contains(t, bad.Message, c.want)
		}
	}
}

func TestCandidatesHaveAProtobufForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		candidate := candidates.Draw(t, "candidate")
		candidate.ResourceVersion = ""
		data, err := candidate.Marshal()
		require.NoError(t, err)
		from := Stored{Codec: alpha, Data: data, Version: 7}
		got, err := Accepted{Codec: alpha, Encoding: Protobuf}.AppendProtobuf(nil, from)
		require.NoError(t, err)
		candidate.ResourceVersion = "7"
		assert.Equal(t, envelope(t, alpha.GroupVersionKind, candidate), got)

		read, _, err := alpha.Decode(got, Protobuf, Warn)
		require.NoError(t, err)
		shown, err := from.Decode()
		require.NoError(t, err)
		assert.Equal(t, shown, read)
	})
}

func TestTableOfCandidates(t *testing.T) {
	read, _, err := beta.Decode([]byte(candidateBody), JSON, Strict)
	require.NoError(t, err)
	read.SetCreationTimestamp(metav1.Unix(1000, 0))
	rendered, err := beta.EncodeJSON(read)
	require.NoError(t, err)
	var names []string
	for _, column := range beta.columns {
		names = append(names, column.Name)
	}
	assert.Equal(t, []string{"Name", "LeaseName", "BinaryVersion", "EmulationVersion", "Age"}, names)
	table, err := Accepted{Codec: beta, Shape: Table, Version: "v1"}.AppendTable(nil, &metav1.ListMeta{}, []Row{beta.Row(read, rendered)}, IncludeNone, false, time.Unix(1060, 0))
	require.NoError(t, err)
	assert.Contains(t, string(table), `"cells":["kcm-1","kcm","1.33.0","1.32.0","60s"]`)
}
