//go:build jepsenbugs

package fsm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm/seeded"
)

// sow switches a fault on until the test ends.
func sow(t *testing.T, fault *bool) {
	*fault = true
	t.Cleanup(func() { *fault = false })
}

func TestSeededDoubleApply(t *testing.T) {
	twice := func() uint64 {
		m := opened(t)
		results := applied(m, create(1, "a"), update(2, "a", "b"), update(2, "a", "b"))
		require.Equal(t, Accepted, results[2].Outcome)
		return m.State().Revision() - FirstRevision
	}
	assert.EqualValues(t, 2, twice(), "without the fault")
	sow(t, &seeded.DoubleApply)
	assert.EqualValues(t, 3, twice())
}

func TestSeededRVReuse(t *testing.T) {
	m := lively(t)
	last := m.State().Revision()
	require.Greater(t, last, uint64(FirstRevision+1))
	snapshot := snapshotOf(t, m)
	sow(t, &seeded.RVReuse)
	copied := restored(t, Options{}, snapshot)
	assert.Equal(t, m.State().Len(), copied.State().Len())
	assert.EqualValues(t, FirstRevision, copied.State().Revision())
	copied.Apply(entry(100, 4, create(100, "new")))
	assert.EqualValues(t, FirstRevision+1, copied.State().Get(Key{"leases", "a", "new"}).Revision, "a version that another change had")
	events, _, err := copied.History().After(FirstRevision, 10)
	require.NoError(t, err)
	assert.Len(t, events, 1)
}

func TestSeededFSMClock(t *testing.T) {
	same := func() bool {
		_, first := lively(t).Hash()
		_, second := lively(t).Hash()
		return first == second
	}
	assert.True(t, same(), "without the fault")
	sow(t, &seeded.FSMClock)
	assert.False(t, same())
}
