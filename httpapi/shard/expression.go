package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// expression is a node of a syntax tree: as much of CEL as a selector can be made of.
type expression struct {
	kind     kind
	text     string        // the name of an identifier, a field or a function; what a string says
	operands []*expression // the arguments of a call; what a field is selected of
}

// kind is what an expression is, numbered as CEL's own parser numbers them.
type kind int

const (
	call       kind = 1
	identifier kind = 3
	literal    kind = 5
	selection  kind = 7
)

// or is the name of the operator as a function.
const or = "_||_"

// What CEL allows, too.
const (
	maxDepth      = 250
	maxCodePoints = 100_000
)

// parseExpression parses expressions of ||, parentheses, calls, field selections and strings. All else that CEL has is an
// error here, as it would be one step later anyway.
func parseExpression(text string) (*expression, error) {
	if utf8.RuneCountInString(text) > maxCodePoints {
		return nil, fmt.Errorf("expression code point size exceeds limit: size: %d, limit %d", utf8.RuneCountInString(text), maxCodePoints)
	}
	p := &parser{rest: text}
	e, err := p.expression()
	if err == nil && p.space() != 0 {
		err = p.unexpected()
	}
	return e, err
}

type parser struct {
	rest  string
	depth int
}

// space passes white space and comments and returns the byte that comes then, 0 at the end.
func (p *parser) space() byte {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\f")
		if !strings.HasPrefix(p.rest, "//") {
			break
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// take passes a token if it comes next.
func (p *parser) take(token string) bool {
	p.space()
	rest, found := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return found
}

func (p *parser) unexpected() error {
	if p.space() == 0 {
		return errors.New("syntax error: unexpected end of the selector")
	}
	c, _ := utf8.DecodeRuneInString(p.rest)
	return fmt.Errorf("syntax error: unexpected %q", c)
}

// expression is operands joined by ||.
func (p *parser) expression() (*expression, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("expression recursion limit exceeded: %d", maxDepth)
	}
	defer func() { p.depth-- }()
	first, err := p.member()
	if err != nil || !p.take("||") {
		return first, err
	}
	joined := &expression{kind: call, text: or, operands: []*expression{first}}
	for {
		next, err := p.member()
		if err != nil {
			return nil, err
		}
		joined.operands = append(joined.operands, next)
		if !p.take("||") {
			return joined, nil
		}
	}
}

// member is a primary expression with fields selected of it, or functions called on it. On what a function is called makes
// no difference: nothing is ever evaluated.
func (p *parser) member() (*expression, error) {
	e, err := p.primary()
	for chain := 1; err == nil && p.take("."); chain++ {
		if chain > maxDepth { // each nests what is before it
			return nil, fmt.Errorf("expression recursion limit exceeded: %d", maxDepth)
		}
		p.space()
		name := p.name()
		if name == "" || keywords[name] {
			return nil, p.unexpected()
		}
		if p.take("(") {
			e = &expression{kind: call, text: name}
			e.operands, err = p.arguments()
			continue
		}
		e = &expression{kind: selection, text: name, operands: []*expression{e}}
	}
	return e, err
}

func (p *parser) primary() (*expression, error) {
	if p.take("(") {
		e, err := p.expression()
		if err == nil && !p.take(")") {
			err = p.unexpected()
		}
		return e, err
	}
	if text, found, err := p.quoted(); found || err != nil {
		return &expression{kind: literal, text: text}, err
	}
	root := ""
	if p.take(".") {
		root = "."
		p.space()
	}
	name := p.name()
	if name == "" || keywords[name] || reserved[name] {
		return nil, p.unexpected()
	}
	if !p.take("(") {
		return &expression{kind: identifier, text: root + name}, nil
	}
	operands, err := p.arguments()
	return &expression{kind: call, text: root + name, operands: operands}, err
}

// arguments are those of a call, up to and with the closing parenthesis.
func (p *parser) arguments() (arguments []*expression, err error) {
	if p.take(")") {
		return nil, nil
	}
	for {
		argument, err := p.expression()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		if p.take(")") {
			return arguments, nil
		}
		if !p.take(",") {
			return nil, p.unexpected()
		}
	}
}

// name passes a word, which may be none.
func (p *parser) name() string {
	end := 0
	for end < len(p.rest) {
		c := p.rest[end]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (end == 0 || c < '0' || c > '9') {
			break
		}
		end++
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name
}

// keywords are words that CEL has as tokens of their own; reserved may not be names of what has no dot before it.
var (
	keywords = words("in true false null")
	reserved = words("as break const continue else for function if import let loop package namespace return var void while")
)

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// quoted passes a string, if one comes: within single or double quotes, or three of them, with an r before it if a
// backslash means itself.
func (p *parser) quoted() (text string, found bool, err error) {
	p.space()
	body := strings.TrimLeft(p.rest, "rR")
	raw := len(p.rest)-len(body) == 1
	if len(p.rest)-len(body) > 1 || body == "" || body[0] != '\'' && body[0] != '"' {
		return "", false, nil
	}
	quote := body[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(body, triple) {
		quote = triple
	}
	body = body[len(quote):]
	var out strings.Builder
	for !strings.HasPrefix(body, quote) {
		if body == "" || len(quote) == 1 && (body[0] == '\n' || body[0] == '\r') {
			return "", true, errors.New("syntax error: a string is not closed")
		}
		if raw || body[0] != '\\' {
			out.WriteByte(body[0])
			body = body[1:]
			continue
		}
		c, rest, err := unescape(body)
		if err != nil {
			return "", true, err
		}
		out.WriteRune(c)
		body = rest
	}
	p.rest = body[len(quote):]
	return out.String(), true, nil
}

func unescape(text string) (c rune, rest string, err error) {
	if len(text) > 1 && strings.IndexByte("'\"?`", text[1]) >= 0 {
		return rune(text[1]), text[2:], nil
	}
	if strings.HasPrefix(text, `\X`) {
		text = `\x` + text[2:]
	}
	c, _, rest, err = strconv.UnquoteChar(text, 0)
	if err != nil {
		return 0, "", errors.New("syntax error: a backslash in a string means nothing")
	}
	return c, rest, nil
}
