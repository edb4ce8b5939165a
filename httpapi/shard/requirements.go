package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/sharding"
)

const namespaceField = "object.metadata.namespace"

// top is 2^64, where the hashes end.
const top = "0x10000000000000000"

// requirements reads a selector: shardRange(field, start, end), several of them joined by ||. kube-apiserver has it parsed
// as CEL and looks at the syntax tree; so parentheses, comments and any way to quote a string are fine. The errors are its
// own, but for those about syntax.
func requirements(text string) ([]sharding.ShardRangeRequirement, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	root, err := parseExpression(string([]rune(text))) // what is no UTF-8 is U+FFFD to CEL
	if err != nil {
		return nil, fmt.Errorf("CEL parse error: %w", err)
	}
	found, err := walk(nil, root)
	if err != nil {
		return nil, err
	}
	for _, r := range found[1:] {
		if r.Key != found[0].Key {
			return nil, fmt.Errorf("all shard ranges must use the same field, got %q and %q", found[0].Key, r.Key)
		}
	}
	return found, nil
}

func walk(found []sharding.ShardRangeRequirement, e *expression) ([]sharding.ShardRangeRequirement, error) {
	switch {
	case e.kind != call:
		return nil, fmt.Errorf("unexpected expression kind %d; expected shardRange() call or || operator", e.kind)
	case e.text == or:
		for _, operand := range e.operands {
			var err error
			if found, err = walk(found, operand); err != nil {
				return nil, err
			}
		}
		return found, nil
	case e.text == "shardRange":
		r, err := requirement(e.operands)
		return append(found, r), err
	}
	return nil, fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", e.text)
}

// requirement is one shardRange.
func requirement(operands []*expression) (r sharding.ShardRangeRequirement, err error) {
	if len(operands) != 3 {
		return r, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(operands))
	}
	if r.Key, err = fieldPath(operands[0]); err != nil {
		return r, fmt.Errorf("shardRange() first argument: %w", err)
	}
	if r.Key != "object.metadata.uid" && r.Key != namespaceField {
		return r, fmt.Errorf("unsupported field path %q; supported: object.metadata.uid, object.metadata.namespace", r.Key)
	}
	if r.Start, err = bound(operands[1], "hexStart"); err != nil {
		return r, err
	}
	if r.End, err = bound(operands[2], "hexEnd"); err != nil {
		return r, err
	}
	if !sharding.HexLess(r.Start, r.End) {
		return r, fmt.Errorf("shard range start %s must be less than end %s", r.Start, r.End)
	}
	return r, nil
}

func fieldPath(e *expression) (string, error) {
	switch e.kind {
	case identifier:
		return e.text, nil
	case selection:
		operand, err := fieldPath(e.operands[0])
		return operand + "." + e.text, err
	}
	return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %d", e.kind)
}

// bound is an end of a range: sixteen digits in lower case, or top.
func bound(e *expression, name string) (string, error) {
	if e.kind != literal {
		return "", fmt.Errorf("%s must be a string literal (e.g. '0xff'), got expression kind %d", name, e.kind)
	}
	digits, prefixed := strings.CutPrefix(e.text, "0x")
	switch {
	case !prefixed:
		return "", fmt.Errorf("%s must have '0x' prefix, got %q", name, e.text)
	case digits == "":
		return "", fmt.Errorf("%s: hex value is required after '0x'", name)
	case len(digits) > 17:
		return "", fmt.Errorf("%s: hex value too long (%d chars, max 17): %q", name, len(digits), digits)
	}
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string(c), e.text)
		}
	}
	switch {
	case len(digits) == 17 && e.text != top:
		return "", fmt.Errorf("%s: 17-digit hex value must be '%s' (2^64), got %q", name, top, e.text)
	case len(digits) < 16:
		return "", fmt.Errorf("%s must be a 0x-prefixed 16-digit hex value, got %q (did you mean %q?)",
			name, e.text, "0x"+strings.Repeat("0", 16-len(digits))+digits)
	}
	return e.text, nil
}

// hashOf is a bound as a number; top is 0, so that one less than it is the last hash.
func hashOf(bound string) uint64 {
	if bound == top {
		return 0
	}
	hash, err := strconv.ParseUint(bound, 0, 64)
	if err != nil {
		panic(err) // bound has seen to it
	}
	return hash
}
