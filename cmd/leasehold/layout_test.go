package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/leasehold/leasehold"

// rooms maps each room to the rooms that it may import. Inside a room everything goes.
var rooms = map[string][]string{
	"fsm":     {},
	"cluster": {"fsm"},
	"httpapi": {"cluster", "fsm"},
	"jepsen":  {},
	"cmd":     {"httpapi", "cluster", "fsm", "jepsen"},
}

// exceptions are packages that may import more than their room.
var exceptions = map[string][]string{
	"jepsen/sim": {"httpapi", "cluster", "fsm"}, // it runs the product's code in simulated time
}

// topLevel is everything that the repository's root may hold.
var topLevel = []string{
	".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
	"cluster", "cmd", "docs", "fsm", "go.mod", "go.sum", "httpapi", "jepsen",
}

// goPackage is the part of go list -json that matters here.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestLayoutImportsGoDown(t *testing.T) {
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	out, err := list.Output()
	require.NoError(t, err)

	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		seen++
		for _, fault := range forbiddenImports(p) {
			assert.Fail(t, fault)
		}
	}
	require.Greater(t, seen, 4, "go list found too little to check")
}

func TestLayoutCheckSeesAnUpwardImport(t *testing.T) {
	upward := goPackage{ImportPath: module + "/fsm", Imports: []string{"fmt", module + "/cluster"}}
	assert.Len(t, forbiddenImports(upward), 1)

	throughTest := goPackage{ImportPath: module + "/jepsen/check", XTestImports: []string{module + "/httpapi/lease"}}
	assert.Len(t, forbiddenImports(throughTest), 1)

	nowhere := goPackage{ImportPath: module + "/util", Imports: []string{"fmt"}}
	assert.Len(t, forbiddenImports(nowhere), 1)

	simulator := goPackage{ImportPath: module + "/jepsen/sim", Imports: []string{module + "/cluster", module + "/fsm"}}
	assert.Empty(t, forbiddenImports(simulator))

	fine := goPackage{ImportPath: module + "/cmd/leasehold", Imports: []string{module + "/cmd/leasehold/bench", module + "/fsm"}}
	assert.Empty(t, forbiddenImports(fine))
}

func TestLayoutTopLevelHoldsOnlyWhatIsAllowed(t *testing.T) {
	tracked, err := exec.Command("git", "-C", "../..", "ls-tree", "--name-only", "HEAD").Output()
	if err != nil {
		// An unpacked source archive has no git; then what lies there is what came in it.
		entries, err := os.ReadDir("../..")
		require.NoError(t, err)
		for _, entry := range entries {
			tracked = append(tracked, entry.Name()+"\n"...)
		}
	}
	for _, name := range strings.Fields(string(tracked)) {
		if name == "bin" || name == ".leasehold" {
			continue // made by make build and make run
		}
		assert.Contains(t, topLevel, name, "the root holds the rooms and nothing else")
	}
}

// forbiddenImports returns a sentence for each import of p that goes up or sideways.
func forbiddenImports(p goPackage) []string {
	own := roomOf(p.ImportPath)
	allowed, known := rooms[own]
	if !known {
		return []string{p.ImportPath + " lies in no known room"}
	}
	allowed = slices.Concat(allowed, exceptions[strings.TrimPrefix(p.ImportPath, module+"/")])
	var faults []string
	for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
		room := roomOf(imported)
		if room != "" && room != own && !slices.Contains(allowed, room) {
			faults = append(faults, p.ImportPath+" must not import "+imported)
		}
	}
	return faults
}

// roomOf returns the first path element below the module, or "" for a package of another module.
func roomOf(importPath string) string {
	below, ours := strings.CutPrefix(importPath, module+"/")
	if !ours {
		return ""
	}
	room, _, _ := strings.Cut(below, "/")
	return room
}
