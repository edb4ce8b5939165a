package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const repository = "../.."

// The README promises that make test is everything that needs no root and no installation. It is two runs: of all but what
// the first leaves out, and of that.
func TestMakeTestLeavesNothingOut(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(repository, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "make test    # everything that needs no root and no installation")
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make here")
	}
	all, apart := makeTest(t)
	require.Contains(t, all.packages, "./...")
	require.Equal(t, all.skip, apart.run)
	assert.Empty(t, all.run, "what is not named is not run")
	assert.Empty(t, apart.skip)

	packages := packagesOfTests(t, regexp.MustCompile(apart.run))
	assert.ElementsMatch(t, packages, apart.packages, "what is left out of the first run has to be in the second")
}

// goTest is a command line.
type goTest struct {
	run, skip string
	packages  []string
}

// makeTest returns the two runs of go test that make test consists of.
func makeTest(t *testing.T) (all, apart goTest) {
	t.Helper()
	command := exec.Command("make", "-n", "test")
	command.Dir = repository
	out, err := command.Output()
	require.NoError(t, err)
	var runs []goTest
	for line := range strings.Lines(string(out)) {
		_, arguments, ok := strings.Cut(line, "go test ")
		if !ok {
			continue
		}
		var run goTest
		words := strings.Fields(arguments)
		for i, word := range words {
			switch {
			case word == "-run":
				run.run = strings.Trim(words[i+1], "'")
			case word == "-skip":
				run.skip = strings.Trim(words[i+1], "'")
			case strings.HasPrefix(word, "./"):
				run.packages = append(run.packages, word)
			}
		}
		runs = append(runs, run)
	}
	require.Len(t, runs, 2, "%s", out)
	return runs[0], runs[1]
}

// packagesOfTests returns the packages of this module that have tests of such names.
func packagesOfTests(t *testing.T, name *regexp.Regexp) []string {
	t.Helper()
	tests := regexp.MustCompile(`(?m)^func (Test\w*)\(`)
	found := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, test := range tests.FindAllSubmatch(text, -1) {
			if name.Match(test[1]) {
				relative, _ := filepath.Rel(repository, filepath.Dir(path))
				found["./"+filepath.ToSlash(relative)] = true
			}
		}
		return err
	}))
	var packages []string
	for name := range found {
		packages = append(packages, name)
	}
	return packages
}
