package conformance

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachRequestGoesToTheNextNode(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	behind := honest()
	said := behind.replies["PUT /a"]
	says(`"101"`, `"99"`)(&said)
	behind.replies["PUT /a"] = said

	// Whichever node the case begins with, the namespaces are made by two requests and the PUT is the fourth.
	honestNode, nodeBehind := honest().open(t), behind.open(t)
	assert.Empty(t, noticedIn(t, corpus, "write", nodeBehind, honestNode))
	assert.Equal(t, []string{"write: body.metadata.resourceVersion"}, noticedIn(t, corpus, "write", honestNode, nodeBehind))
}

// An answer of our own in the place of a recorded one.
func exceptionFor(name string, answer Answer) Exception {
	return Exception{Name: name, Rule: "a rule", Reason: "a reason", Answers: map[string][]Answer{"story/write": {answer}}}
}

func TestAnExceptionExplainsItsOwnAnswerAlone(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	instead := corpus.answers["story/write"][1]
	instead.Status = 202
	corpus.Exceptions = []Exception{exceptionFor("accepted", instead)}
	require.NoError(t, corpus.validateExceptions())
	report := func(change func(*stage)) *Report {
		told := honest()
		change(told)
		check := Check{Corpus: corpus, Server: Server{URLs: []string{told.open(t)}, Token: "admin", UserToken: "user"}, Patience: time.Second}
		report, err := check.Run(t.Context())
		require.NoError(t, err)
		return report
	}
	change := func(told *stage, scene string, how func(*reply)) {
		said := told.replies[scene]
		how(&said)
		told.replies[scene] = said
	}
	accepted := func(said *reply) { said.status = 202 }

	occurs := report(func(told *stage) { change(told, "PUT /a", accepted) })
	assert.True(t, occurs.OK(), "%v", occurs.Differences)
	assert.Equal(t, 1, occurs.Excepted)
	assert.Equal(t, occurs.Cases-1, occurs.Equal)
	assert.Equal(t, 1, occurs.Occurred[0].Answers)
	var text bytes.Buffer
	require.NoError(t, occurs.Write(&text))
	assert.Contains(t, text.String(), "exception accepted: 1 answers (a rule)\n")
	assert.Contains(t, text.String(), "cases: 15 of 16 equal, 1 more but for exceptions\n")

	needless := report(func(*stage) {})
	require.Len(t, needless.Differences, 1)
	assert.Contains(t, needless.Differences[0].String(), "the exception did not occur")
	assert.Equal(t, "exception accepted", needless.Differences[0].Place)

	another := report(func(told *stage) {
		change(told, "PUT /a", func(said *reply) { accepted(said); says(":15", ":16")(said) })
	})
	require.Len(t, another.Differences, 1)
	assert.Equal(t, "body.spec.leaseDurationSeconds", another.Differences[0].Place)

	elsewhere := report(func(told *stage) { change(told, "PUT /a", accepted); change(told, "POST", accepted) })
	require.Len(t, elsewhere.Differences, 1)
	assert.Equal(t, 1, elsewhere.Differences[0].Step)
}

func TestExceptionsThatCanNeverOccurAreRefused(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	answer := corpus.answers["story/write"][0]
	beyond := answer
	beyond.Step = 7
	for fault, exceptions := range map[string][]Exception{
		"no recorded answer": {exceptionFor("x", beyond)},
		"both about":         {exceptionFor("x", answer), exceptionFor("y", answer)},
		"needs a name":       {exceptionFor("", answer)},
		"a reason":           {{Name: "x", Rule: "r", Answers: map[string][]Answer{"story/write": {answer}}}},
		"and answers":        {{Name: "x", Rule: "r", Reason: "r"}},
	} {
		corpus.Exceptions = exceptions
		assert.ErrorContains(t, corpus.validateExceptions(), fault)
	}
}

func TestEveryDifferenceIsALineAndTheTotalsComeLast(t *testing.T) {
	t.Parallel()
	told := honest()
	said := told.replies["DELETE /none"]
	says("not found", "missing")(&said)
	said.status = 410
	told.replies["DELETE /none"] = said
	check := Check{
		Corpus: openStory(t),
		Server: Server{URLs: []string{told.open(t)}, Token: "admin", UserToken: "user"},
		Chosen: func(one Case) bool { return one.Name == "refused" },
	}
	report, err := check.Run(t.Context())
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, report.Write(&text))
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	require.Len(t, lines, 5, text.String())
	assert.Equal(t, "DIFFERENT story/refused: step 1 (DELETE $(leases)/none): status: want 404, got 410", lines[0])
	assert.Regexp(t, `^DIFFERENT story/refused: step 1 .*: message message: want [0-9a-f]{12}, got [0-9a-f]{12} for "leases .*missing"$`, lines[1])
	assert.Equal(t, []string{"messages: 1 of 2 equal", "lesser headers: 0 of 0 equal", "cases: 0 of 1 equal, 0 more but for exceptions"}, lines[2:])
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	report := func(name string, code int, retryAfter string, times int64) *Report {
		told := honest()
		told.refusal, told.retryAfter = code, retryAfter
		told.refusals.Store(times)
		check := Check{
			Corpus: corpus,
			Server: Server{URLs: []string{told.open(t)}, Token: "admin", UserToken: "user"},
			Chosen: func(one Case) bool { return one.Name == name },
		}
		report, err := check.Run(t.Context())
		require.NoError(t, err)
		return report
	}
	for _, name := range []string{"write", "watch"} {
		once := report(name, http.StatusServiceUnavailable, "0", 4)
		assert.True(t, once.OK(), "%v", once.Differences)
		assert.Equal(t, 4, once.Again, "each of the requests")
	}
	anew := report("write", http.StatusGatewayTimeout, "", 2)
	assert.True(t, anew.OK(), "%v", anew.Differences)
	assert.Equal(t, 2, anew.Again, "the case, begun three times")

	for _, refused := range []*Report{
		report("write", http.StatusServiceUnavailable, "", 3), // which is an answer
		report("write", http.StatusGatewayTimeout, "1", 3),    // so is this
		report("write", http.StatusGatewayTimeout, "", 3),
	} {
		assert.False(t, refused.OK())
	}
}

func TestACheckOfNothingIsNone(t *testing.T) {
	t.Parallel()
	corpus := openStory(t)
	fine := Server{URLs: []string{"https://127.0.0.1:1"}, Token: "admin", UserToken: "user"}
	_, err := Check{Corpus: corpus, Server: fine, Chosen: func(Case) bool { return false }}.Run(t.Context())
	require.ErrorContains(t, err, "no case is chosen")
	for fault, server := range map[string]Server{
		"needs a URL":     {Token: "admin", UserToken: "user"},
		"is no URL":       {URLs: []string{"127.0.0.1:80"}, Token: "admin", UserToken: "user"},
		"needs the token": {URLs: fine.URLs, Token: "admin"},
	} {
		_, err := Check{Corpus: corpus, Server: server}.Run(t.Context())
		assert.ErrorContains(t, err, fault)
	}
}
