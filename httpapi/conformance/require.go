package conformance

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// What can be asked of Require by environment variables.
const (
	// onlyVariable holds a regular expression: the cases with such an ID are chosen.
	onlyVariable = "LEASEHOLD_CONFORMANCE_ONLY"
	// answersVariable, if not empty, asks to print what was answered, in the form that exceptions.yaml has.
	answersVariable = "LEASEHOLD_CONFORMANCE_ANSWERS"
)

// Require runs a check and fails the test for each difference. The totals are told in any case. With go test -short it leaves
// out the cases that wait.
func Require(t *testing.T, check Check) {
	t.Helper()
	check.Chosen = chosenBy(t, check.Chosen)
	report, err := check.Run(t.Context())
	require.NoError(t, err)
	if os.Getenv(answersVariable) != "" {
		text, err := yaml.Marshal(report.Answers)
		require.NoError(t, err)
		_, _ = t.Output().Write(text)
	}
	require.NoError(t, report.Write(t.Output()))
	if !report.OK() {
		t.Fail()
	}
}

// chosenBy narrows a choice as the environment says.
func chosenBy(t *testing.T, before func(Case) bool) func(Case) bool {
	only, err := regexp.Compile(os.Getenv(onlyVariable))
	require.NoError(t, err, onlyVariable)
	return func(one Case) bool {
		if before != nil && !before(one) || testing.Short() && one.Waits() {
			return false
		}
		return only.MatchString(one.ID())
	}
}
