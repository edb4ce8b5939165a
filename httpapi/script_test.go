package httpapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScripts runs testdata/*.txt: the door's contract as plain text. A script is a list of stories, each with a door
// of its own:
//
//	== what the story shows
//	POST leases {"metadata":{"name":"a"}}
//	   Content-Type: application/json          a header of the request
//	-> 201                                     the answer's code
//	   metadata.name = "a"                     a value of its body, as JSON; absent is the word for none
//	   metadata.uid = $uid                     the first use of a name remembers, a later one compares
//	   Header Retry-After = 1
//	   body ~ some words
//
// leases stands for the collection of namespace ns, candidates and alphas for the LeaseCandidates there in v1beta1 and
// in v1alpha2. $names are replaced in requests.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			stories := strings.Split("\n"+string(text), "\n== ")[1:]
			require.NotEmpty(t, stories)
			for _, story := range stories {
				name, steps, _ := strings.Cut(story, "\n")
				t.Run(name, func(t *testing.T) { play(t, steps) })
			}
		})
	}
}

var collections = strings.NewReplacer(
	"leases", "/apis/coordination.k8s.io/v1/namespaces/ns/leases",
	"candidates", "/apis/coordination.k8s.io/v1beta1/namespaces/ns/leasecandidates",
	"alphas", "/apis/coordination.k8s.io/v1alpha2/namespaces/ns/leasecandidates",
)

var named = regexp.MustCompile(`\$[a-z]+`)

// play runs one story.
func play(t *testing.T, story string) {
	d := openDoor(t)
	known := map[string]string{}
	var request []string
	var header []string
	var last answer
	answered := true
	send := func() {
		path := collections.Replace(request[1])
		if strings.HasPrefix(request[1], "/") {
			path = request[1]
		}
		last = d.do(t, request[0], path, request[2], header...)
		answered, header = true, nil
	}
	for number, line := range strings.Split(story, "\n") {
		trimmed := strings.TrimSpace(line)
		where := fmt.Sprintf("line %d of the story: %s\nanswer: %d %s", number+1, trimmed, codeOf(last), last.body)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(line, "-> "):
			send()
			require.Equal(t, strings.TrimPrefix(line, "-> "), strconv.Itoa(last.StatusCode), "line %d of the story: %v\nanswer: %s", number+1, request, last.body)
		case line == trimmed:
			require.True(t, answered, "the request before line %d has no answer", number+1)
			line = named.ReplaceAllStringFunc(line, func(name string) string {
				if value, ok := known[name]; ok {
					return value
				}
				return name // not ours: a patch's directive
			})
			request = append(strings.SplitN(line, " ", 3), "")
			answered = false
		case !answered:
			name, value, ok := strings.Cut(trimmed, ": ")
			require.True(t, ok, where)
			header = append(header, name, value)
		default:
			expect(t, last, trimmed, known, where)
		}
	}
	require.True(t, answered, "the last request has no answer")
}

func codeOf(a answer) int {
	if a.Response == nil {
		return 0
	}
	return a.StatusCode
}

// expect checks one line about an answer.
func expect(t *testing.T, got answer, line string, known map[string]string, where string) {
	if words, ok := strings.CutPrefix(line, "body ~ "); ok {
		require.Contains(t, got.body, words, where)
		return
	}
	path, want, ok := strings.Cut(line, " = ")
	require.True(t, ok, where)
	var found string
	if name, ok := strings.CutPrefix(path, "Header "); ok {
		found = "absent"
		if values := got.Header.Values(name); len(values) > 0 {
			found = strings.Join(values, ", ")
		}
	} else {
		var value any
		require.NoError(t, json.Unmarshal([]byte(got.body), &value), where)
		found = valueAt(value, strings.Split(path, "."))
	}
	if strings.HasPrefix(want, "$") {
		remembered, ok := known[want]
		if !ok {
			require.NotEqual(t, "absent", found, where)
			known[want] = strings.Trim(found, `"`)
			return
		}
		want, found = remembered, strings.Trim(found, `"`)
	}
	require.Equal(t, want, found, where)
}

// valueAt walks into decoded JSON; * is the number of entries.
func valueAt(value any, path []string) string {
	for _, name := range path {
		switch here := value.(type) {
		case map[string]any:
			next, ok := here[name]
			if !ok {
				return "absent"
			}
			value = next
		case []any:
			if name == "*" {
				return strconv.Itoa(len(here))
			}
			index, err := strconv.Atoi(name)
			if err != nil || index >= len(here) {
				return "absent"
			}
			value = here[index]
		default:
			return "absent"
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
