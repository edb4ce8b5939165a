package e2e

import (
	"regexp"
	"slices"
	"strings"
)

// substitution replaces what is never the same twice.
type substitution struct {
	pattern *regexp.Regexp
	with    string
}

func substitute(text string, with []substitution) string {
	for _, one := range with {
		text = one.pattern.ReplaceAllString(text, one.with)
	}
	return text
}

// passing is what differs between two runs of one kubectl.
var passing = []substitution{
	{regexp.MustCompile(`((?:uid"?|UID):\s+"?)[0-9a-f-]{36}`), "${1}UID"},
	{regexp.MustCompile(`(resourceVersion"?: )"\d+"`), "${1}RV"},
	{regexp.MustCompile(`(Resource Version:\s+)\d+`), "${1}RV"},
	{regexp.MustCompile(`((?:creationTimestamp|time)"?: )"20[^"]+"`), "${1}T"},
	{regexp.MustCompile(`(Creation Timestamp:\s+)\S+`), "${1}T"},
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "URL"},
}

// readable makes of what kubectl prints what a script can say: columns are as wide as what is in them, so runs of blanks
// within a line are one, and an age is 0s.
func readable(text string) string {
	return substitute(substitute(text, passing), plain)
}

// age matches how long ago something was, or how long it took.
var age = regexp.MustCompile(`(?m)(^|[\s(])(?:\d+(?:\.\d+)?(?:d|h|m|s|ms))+($|[\s),])`)

// plain is how scripts have it.
var plain = []substitution{
	{age, "${1}0s$2"},
	{regexp.MustCompile(`(\S)[ \t]+`), "$1 "},
	{regexp.MustCompile(`(?m)[ \t]+$`), ""},
}

// normal makes of what kubectl prints what was recorded: less, since files and versions differ.
func normal(text string, more ...substitution) string {
	return strings.TrimSpace(substitute(text, slices.Concat(more, passing, recordings)))
}

// recordings is how recordings have it: without what kubectl's versions set differently, or depends on where they run.
var recordings = []substitution{
	{age, "${1}AGE$2"},
	{regexp.MustCompile(`kubectl-\w+`), "kubectl-X"}, // its name as a manager
	{regexp.MustCompile(`\b(LIVE|MERGED)-\d+`), "TMP"},
	{regexp.MustCompile(`(?m)^(---|\+\+\+) .*$`), "$1 FILE"},
	{regexp.MustCompile(`(?m)^diff .*$`), "diff FILE FILE"},
	{regexp.MustCompile(`(?m)^I\d{4} .*\n`), ""}, // what kubectl logs for itself
	{regexp.MustCompile(`(?m)^([EW])\d{4} [\d:.]+ +\d+ `), "$1 "},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(`\n{3,}`), "\n\n"}, // explain ends a description with two in some versions
}
