package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/leasehold/leasehold/jepsen/check"
)

// Kinds of entries. Others may be written; they count as runs of real processes.
const (
	Run      = "run"
	Matrix   = "matrix"
	Sim      = "sim"      // simulated time
	SelfTest = "selftest" // seeded bugs: pass means that each was caught. Its operations count nowhere
	PowerOff = "power-loss"
	KillAll  = "kill-all"
	Failover = "failover"
	Restart  = "restart"
	Heal     = "heal"
	Election = "election"
)

// Entry is one line.
type Entry struct {
	Time       time.Time          `json:"time"` // when it began, in UTC to the second
	Commit     string             `json:"commit"`
	Dirty      bool               `json:"dirty,omitempty"` // with changes that no commit holds
	Machine    string             `json:"machine,omitempty"`
	Kind       string             `json:"kind"`
	Workload   string             `json:"workload,omitempty"`
	Faults     map[string]int     `json:"faults,omitempty"` // felt, by kind
	Operations int                `json:"operations"`       // checked
	Simulated  float64            `json:"simulated,omitempty"`
	Seconds    float64            `json:"seconds"` // that it took; Simulated are the seconds that passed in a simulation
	Verdict    check.Verdict      `json:"verdict"`
	Sentence   string             `json:"sentence"`
	Seed       uint64             `json:"seed"`
	Run        string             `json:"run,omitempty"`     // its folder in the store, if it has one
	History    string             `json:"history,omitempty"` // SHA-256 of history.jsonl in that folder
	Figures    map[string]float64 `json:"figures,omitempty"`
	// Hash is the SHA-256 of the hash of the line before, "" for the first, a newline, and this line without its hash.
	Hash string `json:"hash"`
}

// validate says what is wrong with an entry's form.
func (e *Entry) validate() error {
	switch {
	case e.Time.IsZero():
		return errors.New("no time")
	case e.Kind == "":
		return errors.New("no kind")
	case !slices.Contains([]check.Verdict{check.Pass, check.Invalid, check.Unknown, check.Broken}, e.Verdict):
		return fmt.Errorf("%q is no verdict", e.Verdict)
	case e.Sentence == "":
		return errors.New("no sentence")
	case e.Operations < 0 || e.Seconds < 0 || e.Simulated < 0:
		return errors.New("a negative count")
	case e.History != "" && len(e.History) != hex.EncodedLen(sha256.Size):
		return errors.New("the hash of the history is no SHA-256")
	case e.History != "" && e.Run == "":
		return errors.New("a history without a run")
	}
	for kind, n := range e.Faults {
		if n < 0 {
			return fmt.Errorf("a negative count of %s", kind)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Figures)) {
		if math.IsNaN(e.Figures[name]) || math.IsInf(e.Figures[name], 0) {
			return fmt.Errorf("figure %q is no number", name)
		}
	}
	return nil
}

// chain returns the hash that an entry has after a line with the hash before.
func (e Entry) chain(before string) (string, error) {
	e.Hash = ""
	line, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(before+"\n"), line...))
	return hex.EncodeToString(sum[:]), nil
}

// parse reads one line, which must be in the very form in which it is written.
func parse(line []byte) (Entry, error) {
	var e Entry
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, err
	}
	again, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	if !bytes.Equal(line, again) {
		return e, errors.New("not in the form in which the tool writes it")
	}
	return e, e.validate()
}
