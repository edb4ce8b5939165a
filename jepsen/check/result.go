package check

// Verdict is a judgement. They are listed from best to worst.
type Verdict string

const (
	Pass    Verdict = "pass"
	Invalid Verdict = "invalid" // the run shows nothing: its faults were not felt, or its traffic was too small
	Unknown Verdict = "unknown" // the checker could not decide
	Broken  Verdict = "fail"    // a guarantee was broken
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Guarantee string  `json:"guarantee"` // V1 to D5
	Verdict   Verdict `json:"verdict"`   // Broken, Unknown or Invalid
	// Sentence says in one sentence, for a person who has never seen the project, what was promised and what happened
	// instead, with the names of operations, nodes and times.
	Sentence string `json:"sentence"`
	Time     int64  `json:"time"` // nanoseconds into the history
	// Lines are the indexes of the history's lines that show it, the decisive one first.
	Lines  []int64  `json:"lines,omitempty"`
	Keys   []string `json:"keys,omitempty"`   // objects concerned
	Faults []string `json:"faults,omitempty"` // names of the faults in force at Time
}

// Result is what one checker says.
type Result struct {
	Checker  string    `json:"checker"`
	Judges   []string  `json:"judges"` // guarantees
	Verdict  Verdict   `json:"verdict"`
	Checked  int       `json:"checked"`            // operations, events or samples judged
	Findings []Finding `json:"findings,omitempty"` // the first ones, by time
	More     int       `json:"more,omitempty"`     // findings left out
	Seconds  float64   `json:"seconds"`            // time it took
	Note     string    `json:"note,omitempty"`
}

// Report is what all checkers say of a history.
type Report struct {
	Verdict  Verdict        `json:"verdict"`
	Sentence string         `json:"sentence"` // one that a person can act on
	Results  []Result       `json:"results"`
	Counts   map[string]int `json:"counts"` // operations by outcome, faults by kind, elections, snapshots...
}
