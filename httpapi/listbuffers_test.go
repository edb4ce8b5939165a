package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLargeBuffersAreLetGo(t *testing.T) {
	var b listBuffers
	b.give(make([]byte, 10, maxKeptBuffer+1))
	require.Zero(t, cap(b.take()))
	b.give([]byte("what was written"))
	require.Empty(t, b.take(), "whether it was kept or not")
}
