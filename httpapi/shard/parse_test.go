package shard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	upper = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
	named = "shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')"
)

func TestParseTellsTheCanonicalForm(t *testing.T) {
	for given, told := range map[string]string{
		lower:                                  lower,
		named:                                  named,
		lower + " || " + upper:                 lower + " || " + upper,
		lower + "||" + upper + "||" + lower:    lower + " || " + upper + " || " + lower,
		strings.ReplaceAll(lower, " ", ""):     lower,
		"\t" + lower + " // the lower half":    lower,
		"((" + lower + ")\n||(" + upper + "))": lower + " || " + upper,
		strings.ReplaceAll(lower, "'", `"`):    lower,
		strings.ReplaceAll(upper, "'", `"""`):  upper,
		`shardRange((object.metadata).uid, r'0x0000000000000000', '\x30x80\u0030000000000000\060')`: lower,
		"any.thing." + lower: lower, // what a function is called on is never looked at
	} {
		selector, err := Parse(given)
		if assert.NoError(t, err, given) {
			assert.Equal(t, told, selector.String(), given)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for given, part := range map[string]string{
		" ":                    "empty shard selector is not allowed",
		"garbage":              "unexpected expression kind 3; expected shardRange() call or || operator",
		"'text'":               "unexpected expression kind 5",
		"a.b":                  "unexpected expression kind 7",
		"other()":              `unsupported function "other"; only shardRange() and || are allowed`,
		lower + " || garbage":  "unexpected expression kind 3",
		lower + " || " + named: `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`,

		"shardRange(object.metadata.uid, '0x0000000000000000')": "requires exactly 3 arguments, got 2",
		"shardRange('uid', '', '')":                             "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
		"shardRange(object.metadata.name, '', '')":              `unsupported field path "object.metadata.name"`,
		"shardRange(.object.metadata.uid, '', '')":              `unsupported field path ".object.metadata.uid"`,
		"shardRange(object.metadata.uid, zero, '')":             "hexStart must be a string literal (e.g. '0xff'), got expression kind 3",
		strings.Replace(lower, "0x8", "8", 1):                   "hexEnd must have '0x' prefix",
		strings.Replace(lower, "0x8000000000000000", "0x", 1):   "hexEnd: hex value is required after '0x'",
		strings.Replace(lower, "0x8000000000000000", "0x8", 1):  `hexEnd must be a 0x-prefixed 16-digit hex value, got "0x8" (did you mean "0x0000000000000008"?)`,
		strings.Replace(upper, "0x1", "0x2", 1):                 "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64)",
		strings.Replace(upper, "0x1", "0x10", 1):                "hexEnd: hex value too long (18 chars, max 17)",
		strings.Replace(lower, "0x8", "0xA", 1):                 `hexEnd: invalid hex character "A"`,
		strings.Replace(lower, "0x8000", "0x\xa9", 1):           "hexEnd: invalid hex character \"\uFFFD\"",
		strings.Replace(lower, "0x0", "0x9", 1):                 "shard range start 0x9000000000000000 must be less than end 0x8000000000000000",
		strings.Replace(lower, "0x0", "0x8", 1):                 "must be less than end",

		lower + " && " + upper:               "CEL parse error",
		lower + " ||":                        "CEL parse error",
		lower + ")":                          "CEL parse error",
		"(" + lower:                          "CEL parse error",
		"true":                               "CEL parse error",
		"namespace.shardRange()":             "CEL parse error",
		strings.Replace(lower, "')", ")", 1): "CEL parse error",
		"shardRange(object.metadata.uid, '0x\n', '')": "CEL parse error",
		strings.Replace(lower, "0x0", `\q`, 1):        "CEL parse error",
	} {
		_, err := Parse(given)
		assert.ErrorContains(t, err, part, given)
	}
}

func TestParseBoundsDepthAndSize(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("(", depth) + lower + strings.Repeat(")", depth) }
	_, err := Parse(nested(maxDepth / 2))
	require.NoError(t, err)
	_, err = Parse(nested(1 << 20))
	require.ErrorContains(t, err, "limit")
	_, err = Parse(nested(maxDepth))
	require.ErrorContains(t, err, "expression recursion limit exceeded")
	_, err = Parse("shardRange(object" + strings.Repeat(".a", maxDepth+1) + ", '', '')")
	require.ErrorContains(t, err, "expression recursion limit exceeded")
	_, err = Parse(lower + strings.Repeat(" ", maxCodePoints) + "|| " + upper)
	require.ErrorContains(t, err, "exceeds limit")
}
