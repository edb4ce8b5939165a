package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/httpapi/conformance"
)

// TestThreeNodes holds the recorded cases with a cluster that serves as the recorded server did.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	corpus, err := conformance.Recorded()
	require.NoError(t, err)
	conformance.Require(t, conformance.Check{Corpus: corpus, Server: startCluster(t, "--anonymous-auth", "--history-age", "75s")})
}

// TestGatedThreeNodes holds the cases that want feature gates, and no strangers.
func TestGatedThreeNodes(t *testing.T) {
	t.Parallel()
	corpus, err := conformance.Gated()
	require.NoError(t, err)
	conformance.Require(t, conformance.Check{
		Corpus: corpus,
		Server: startCluster(t, "--feature-gates", "ShardedListAndWatch=true,CBORServingAndStorage=true"),
	})
}
