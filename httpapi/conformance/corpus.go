package conformance

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed testdata/recorded testdata/gated
var recordings embed.FS

// Corpus is cases and what the reference answered in each.
type Corpus struct {
	Cases []Case
	// Exceptions are the rules by which Leasehold answers otherwise. Another server has none.
	Exceptions []Exception

	answers map[string][]Answer // by the case's ID
}

// Recorded is the corpus of a kube-apiserver with default gates and CoordinatedLeaderElection, anonymous access on.
func Recorded() (*Corpus, error) { return load(recordings, "testdata/recorded") }

// Gated is the corpus of a kube-apiserver with the gates ShardedListAndWatch and CBORServingAndStorage on, anonymous access
// off.
func Gated() (*Corpus, error) { return load(recordings, "testdata/gated") }

// load reads cases/TOPIC.yaml, answers/TOPIC.json and exceptions.yaml below dir. Every case has answers and every answer its case.
func load(files fs.FS, dir string) (*Corpus, error) {
	topics, err := fs.Glob(files, path.Join(dir, "cases", "*.yaml"))
	if err != nil {
		return nil, err
	}
	corpus := &Corpus{answers: make(map[string][]Answer)}
	for _, file := range topics {
		topic := strings.TrimSuffix(path.Base(file), ".yaml")
		if err := corpus.addTopic(files, file, path.Join(dir, "answers", topic+".json"), topic); err != nil {
			return nil, err
		}
	}
	if len(corpus.Cases) == 0 {
		return nil, fmt.Errorf("no cases in %s", dir)
	}
	if corpus.Exceptions, err = exceptions(files, dir); err != nil {
		return nil, err
	}
	return corpus, corpus.validateExceptions()
}

func (c *Corpus) addTopic(files fs.FS, casesFile, answersFile, topic string) error {
	cases, err := readCases(files, casesFile)
	if err != nil {
		return err
	}
	text, err := fs.ReadFile(files, answersFile)
	if err != nil {
		return err
	}
	answers := make(map[string][]Answer)
	if err := decodeJSON(text, &answers); err != nil {
		return fmt.Errorf("%s: %w", answersFile, err)
	}
	for _, one := range cases {
		one.Topic = topic
		_, again := c.answers[one.ID()]
		recorded, known := answers[one.Name]
		switch {
		case one.Name == "" || len(one.Steps) == 0:
			return fmt.Errorf("%s: case %q has no name or no steps", casesFile, one.Name)
		case again:
			return fmt.Errorf("%s: case %q is there twice", casesFile, one.Name)
		case !known:
			return fmt.Errorf("%s: case %q has no recorded answers", casesFile, one.Name)
		}
		c.Cases = append(c.Cases, one)
		c.answers[one.ID()] = recorded
		delete(answers, one.Name)
	}
	for name := range answers {
		return fmt.Errorf("%s: there is no case %q", answersFile, name)
	}
	return nil
}

func readCases(files fs.FS, name string) ([]Case, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var cases []Case
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cases, nil
}

// Case is one conversation, held in namespaces of its own.
type Case struct {
	Topic string `json:"-"`
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Steps []Step `json:"steps"`

	// Generated are prefixes of generateName: what follows them is random.
	Generated []string `json:"generated,omitempty"`
	// AnyNumbers says that numbers in sentences vary.
	AnyNumbers bool `json:"anyNumbers,omitempty"`
	// NoNamespace says not to make the case's namespaces first.
	NoNamespace bool `json:"noNamespace,omitempty"`
}

// ID is topic/name.
func (c Case) ID() string { return c.Topic + "/" + c.Name }

// Waits says whether the case waits for something that the server does in its own time, such as forgetting.
func (c Case) Waits() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Eventually > 0 })
}

// Step is one thing a client does: it sends a request (Do), opens a watch, or collects what a watch has got.
type Step struct {
	ID string `json:"id,omitempty"` // what $(ID.path) in later steps refers to

	Do        string `json:"do,omitempty"`        // METHOD and path
	Watch     string `json:"watch,omitempty"`     // path
	WebSocket string `json:"webSocket,omitempty"` // path
	Collect   string `json:"collect,omitempty"`   // the ID of a watch

	As      string            `json:"as,omitempty"` // admin if empty, user, nobody or badtoken
	Headers map[string]string `json:"headers,omitempty"`
	Type    string            `json:"type,omitempty"`   // Content-Type, in full or as in shortTypes; none sends none
	Accept  string            `json:"accept,omitempty"` // likewise

	// The body: at most one of these. Lease and Candidate get apiVersion and kind.
	Body      string          `json:"body,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"`
	YAML      json.RawMessage `json:"yaml,omitempty"`
	Lease     json.RawMessage `json:"lease,omitempty"`
	Candidate json.RawMessage `json:"candidate,omitempty"`
	Encode    string          `json:"encode,omitempty"` // protobuf or cbor; JSON if empty

	Repeat     int `json:"repeat,omitempty"`     // send so often, $(i) counting; the last answer is told
	Parallel   int `json:"parallel,omitempty"`   // send so often at once; the answer is how often each code came
	Eventually int `json:"eventually,omitempty"` // send until this code comes

	// Of a watch to collect: how many events to wait for, and 0 means until the server ends it. Bookmarks come when the
	// server likes and are left out; "initial" keeps those that end the initial events, "some" tells if any came.
	Events    int    `json:"events,omitempty"`
	Bookmarks string `json:"bookmarks,omitempty"`

	Record string   `json:"record,omitempty"` // what is compared: status, none, or everything if empty
	Pick   []string `json:"pick,omitempty"`   // only these places of the body are compared

	SleepMillis int `json:"sleepMillis,omitempty"` // pause before the step
}

// counts says whether an event of a watch is one that the step waits for and tells.
func (s Step) counts(event any) bool {
	if at(event, "type") != "BOOKMARK" {
		return true
	}
	const ended = "metadata.annotations[k8s.io/initial-events-end]"
	closing := at(event, "object."+ended) != nil || at(event, "object.rows.0.object."+ended) != nil
	return closing && s.Bookmarks == "initial"
}

// Answer is what came of a step, free of all that differs from run to run.
type Answer struct {
	Step    int               `json:"step"` // counted from 1
	Request string            `json:"request,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	Events  []any             `json:"events,omitempty"`
	Closed  bool              `json:"closed,omitempty"` // by the server, while the step waited

	// Soft is what is counted apart: "message PLACE" with the hash of a sentence, and "header NAME".
	Soft map[string]string `json:"soft,omitempty"`

	// sentences are the texts behind the hashes, by the same keys. Recordings have none.
	sentences map[string]string
}
