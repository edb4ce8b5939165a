package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is embedded must be what the code and the types' comments say now: if this fails, run go generate in
// httpapi/discovery.
func TestEmbeddedDescriptionsAreCurrent(t *testing.T) {
	want, err := generate()
	require.NoError(t, err)
	root := filepath.Join("..", "openapi")
	var names []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		names = append(names, filepath.ToSlash(name))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, string(want[filepath.ToSlash(name)]) == string(content), "%s is out of date", name)
		return nil
	}))
	assert.Len(t, names, len(want))
}

func TestGenerationIsDeterministic(t *testing.T) {
	first, err := generate()
	require.NoError(t, err)
	second, err := generate()
	require.NoError(t, err)
	for name := range first {
		assert.True(t, string(first[name]) == string(second[name]), name)
	}
	assert.Len(t, second, len(first))
}
