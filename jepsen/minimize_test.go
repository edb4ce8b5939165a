package jepsen

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leasehold/leasehold/jepsen/check"
)

// judged is the outcome of a run that broke a guarantee, or of one that passed if that is "".
func judged(guarantee string) Outcome {
	if guarantee == "" {
		return Outcome{Report: check.Report{Verdict: check.Pass}}
	}
	return Outcome{Report: check.Report{Verdict: check.Broken, Results: []check.Result{{Findings: []check.Finding{{Guarantee: guarantee, Verdict: check.Broken}}}}}}
}

func TestMinimizeLeavesWhatItTakesToBreakTheSameGuarantee(t *testing.T) {
	runs := 0
	m := &minimizer{
		tries: 2, options: Options{Out: io.Discard}, broken: []string{"O5"},
		run: func(_ context.Context, s Spec, _ Options) (Outcome, error) {
			runs++
			if runs%2 == 1 {
				return judged(""), nil // luck is wanting every other time
			}
			has := func(i int) bool { return s.Only == nil || slices.Contains(s.Only, i) }
			switch {
			case slices.Contains(s.Workloads, "register") && has(3) && has(7) && s.Clients >= 8:
				return judged("O5"), nil
			case len(s.Only) == 1:
				return judged("W3"), nil // another guarantee
			}
			return judged(""), nil
		},
	}
	m.best.Spec = Spec{Workloads: []string{"watch", "register", "list"}, Clients: 40, Rate: 400}
	require.NoError(t, m.all(t.Context(), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}))
	assert.Equal(t, []string{"register"}, m.best.Spec.Workloads)
	assert.Equal(t, []int{3, 7}, m.best.Spec.Only)
	assert.Equal(t, 10, m.best.Spec.Clients)
	assert.Equal(t, []string{"O5"}, brokenGuarantees(m.best.Outcome.Report))
}

func TestMinimizeEndsWhereNoFaultIsNeeded(t *testing.T) {
	m := &minimizer{
		tries: 1, options: Options{Out: io.Discard}, broken: []string{"L5"},
		run: func(context.Context, Spec, Options) (Outcome, error) { return judged("L5"), nil },
	}
	m.best.Spec = Spec{Workloads: []string{"list"}, Clients: 4, Rate: 40}
	require.NoError(t, m.all(t.Context(), []int{0, 1, 2}))
	assert.Empty(t, m.best.Spec.Only)
	assert.NotNil(t, m.best.Spec.Only, "none is not the same as all")
	assert.Equal(t, 1, m.best.Spec.Clients)
}
