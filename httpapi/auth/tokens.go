package auth

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Tokens are the bearer tokens that are known. They are kept and looked up by digest, so that the time a look-up takes
// tells nothing about any token.
type Tokens map[[sha256.Size]byte]*User

// ReadTokens reads a token file; see ParseTokens.
func ReadTokens(path string) (Tokens, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tokens, err := ParseTokens(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tokens, nil
}

// ParseTokens reads lines of the form token,user,uid,"group1,group2" - what kube-apiserver takes with
// --token-auth-file; the groups may be missing. Where kube-apiserver would only warn, of an empty token and of one that
// comes twice, this is an error: the file does not say what its author meant.
func ParseTokens(r io.Reader) (Tokens, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = -1
	tokens, lines := Tokens{}, map[[sha256.Size]byte]int{}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err // names the line, and not what is there
		}
		line, _ := reader.FieldPos(0)
		if len(record) < 3 {
			return nil, fmt.Errorf("line %d: want token, user name and user uid, found %d columns", line, len(record))
		}
		token := strings.TrimSpace(record[0])
		switch {
		case token == "":
			return nil, fmt.Errorf("line %d: the token is empty", line)
		case strings.ContainsAny(token, " \t"):
			return nil, fmt.Errorf("line %d: the token has a blank in it, which no client can send", line)
		case record[1] == "":
			return nil, fmt.Errorf("line %d: the user name is empty", line)
		}
		digest := sha256.Sum256([]byte(token))
		if first, twice := lines[digest]; twice {
			return nil, fmt.Errorf("line %d: the same token as in line %d", line, first)
		}
		lines[digest] = line
		tokens[digest] = userOfRecord(record)
	}
}

func userOfRecord(record []string) *User {
	var groups []string
	if len(record) > 3 {
		for group := range strings.SplitSeq(record[3], ",") {
			if group != "" {
				groups = append(groups, group)
			}
		}
	}
	return &User{Name: record[1], UID: record[2], Groups: authenticated(groups)}
}

func (t Tokens) user(token string) *User { return t[sha256.Sum256([]byte(token))] }
