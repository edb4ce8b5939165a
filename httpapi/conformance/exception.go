package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"sigs.k8s.io/yaml"
)

// Exception is a rule by which the server means to answer otherwise than the reference.
type Exception struct {
	Name   string `json:"name"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	// Answers stand in the place of recorded ones, by the case's ID and the answer's step. All else in those cases must be
	// as recorded.
	Answers map[string][]Answer `json:"answers"`
}

// exceptions reads exceptions.yaml in dir, which need not be there.
func exceptions(files fs.FS, dir string) ([]Exception, error) {
	file := path.Join(dir, "exceptions.yaml")
	text, err := fs.ReadFile(files, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Exception
	if err := yaml.UnmarshalStrict(text, &list, withNumbers); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

func withNumbers(decoder *json.Decoder) *json.Decoder {
	decoder.UseNumber()
	return decoder
}

// validateExceptions finds exceptions that can never apply or that leave out why they are there.
func (c *Corpus) validateExceptions() error {
	seen := make(map[string]string) // case and step to the exception's name
	for _, exception := range c.Exceptions {
		if exception.Name == "" || exception.Rule == "" || exception.Reason == "" || len(exception.Answers) == 0 {
			return fmt.Errorf("exception %q needs a name, a rule, a reason and answers", exception.Name)
		}
		for id, answers := range exception.Answers {
			for _, answer := range answers {
				where := fmt.Sprintf("%s step %d", id, answer.Step)
				if !c.hasAnswer(id, answer.Step) {
					return fmt.Errorf("exception %q: there is no recorded answer %s", exception.Name, where)
				}
				if other, twice := seen[where]; twice {
					return fmt.Errorf("exceptions %q and %q are both about %s", other, exception.Name, where)
				}
				seen[where] = exception.Name
			}
		}
	}
	return nil
}

func (c *Corpus) hasAnswer(id string, step int) bool {
	for _, answer := range c.answers[id] {
		if answer.Step == step {
			return true
		}
	}
	return false
}

// exception returns what is meant to come instead of a recorded answer, and by which rule.
func (c *Corpus) exception(id string, step int) (instead Answer, name string, ok bool) {
	for _, exception := range c.Exceptions {
		for _, answer := range exception.Answers[id] {
			if answer.Step == step {
				return answer, exception.Name, true
			}
		}
	}
	return Answer{}, "", false
}
