//go:build jepsenbugs

package cluster

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/fsm/seeded"
)

func TestSeededNoSync(t *testing.T) {
	defer func() { seeded.NoSync = false }()
	for _, fault := range []bool{false, true} {
		seeded.NoSync = fault
		store, err := open(filepath.Join(t.TempDir(), boltFile))
		require.NoError(t, err)
		assert.Equal(t, fault, reflect.ValueOf(store).Elem().FieldByName("conn").Elem().FieldByName("NoSync").Bool())
		require.NoError(t, store.Close())
	}
}
