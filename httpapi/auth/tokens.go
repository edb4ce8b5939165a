package auth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/leasehold/leasehold/httpapi"
)

// ReadTokens reads Kubernetes' static token file: lines of token,user,uid and optionally "group,group". Lines that start
// with # are comments.
func ReadTokens(file io.Reader) (map[string]*httpapi.User, error) {
	lines := csv.NewReader(file)
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	lines.TrimLeadingSpace = true
	tokens := map[string]*httpapi.User{}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(0)
		if len(fields) < 3 {
			return nil, fmt.Errorf("line %d has %d fields; token, user and uid are needed", line, len(fields))
		}
		token, name := fields[0], fields[1]
		if token == "" || name == "" {
			return nil, fmt.Errorf("line %d has an empty token or user", line)
		}
		if tokens[token] != nil {
			return nil, fmt.Errorf("line %d has a token that an earlier line has too", line)
		}
		var groups []string
		if len(fields) > 3 && fields[3] != "" {
			for group := range strings.SplitSeq(fields[3], ",") {
				groups = append(groups, strings.TrimSpace(group))
			}
		}
		tokens[token] = newUser(name, groups)
	}
}
