package conformance

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCorpusThatDoesNotFitTogetherIsRefused(t *testing.T) {
	t.Parallel()
	const oneCase, oneAnswer = "- name: a\n  steps: [{do: GET /}]\n", `{"a":[{"step":1,"status":200}]}`
	for fault, files := range map[string]map[string]string{
		"no cases":                {},
		"no name or no steps":     {"cases/x.yaml": "- name: a\n", "answers/x.json": oneAnswer},
		"is there twice":          {"cases/x.yaml": oneCase + oneCase, "answers/x.json": oneAnswer},
		"has no recorded answers": {"cases/x.yaml": oneCase, "answers/x.json": `{}`},
		"there is no case":        {"cases/x.yaml": oneCase, "answers/x.json": `{"a":[],"b":[]}`},
		"file does not exist":     {"cases/x.yaml": oneCase},
		`unknown field "steeps"`:  {"cases/x.yaml": "- name: a\n  steeps: []\n", "answers/x.json": oneAnswer},
		`unknown field "rules"`:   {"cases/x.yaml": oneCase, "answers/x.json": oneAnswer, "exceptions.yaml": "- rules: a\n"},
		"more than one JSON":      {"cases/x.yaml": oneCase, "answers/x.json": oneAnswer + oneAnswer},
	} {
		dir := fstest.MapFS{}
		for name, text := range files {
			dir["corpus/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := load(dir, "corpus")
		assert.ErrorContains(t, err, fault)
	}
}

// The page about the API has the same list of differences as the check.
func TestEveryExceptionIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	for _, open := range []func() (*Corpus, error){Recorded, Gated} {
		corpus, err := open()
		require.NoError(t, err)
		for _, exception := range corpus.Exceptions {
			row := "| `" + exception.Name + "` | " + exception.Rule + " |"
			assert.True(t, strings.Contains(string(page), row), "docs/api.md has no row that begins %s", row)
		}
	}
}

// That a case's steps and its recorded answers go together is otherwise only found when they are held.
func TestRecordedAnswersAreOfStepsThatHaveAnswers(t *testing.T) {
	t.Parallel()
	for _, open := range []func() (*Corpus, error){Recorded, Gated} {
		corpus, err := open()
		require.NoError(t, err)
		for _, one := range corpus.Cases {
			for _, answer := range corpus.answers[one.ID()] {
				require.LessOrEqual(t, answer.Step, len(one.Steps), one.ID())
				step := one.Steps[answer.Step-1]
				assert.NotEmpty(t, step.Do+step.Collect, "%s step %d", one.ID(), answer.Step)
				assert.True(t, strings.HasSuffix(answer.Request, step.Do+step.Collect), "%s step %d", one.ID(), answer.Step)
			}
		}
	}
}
