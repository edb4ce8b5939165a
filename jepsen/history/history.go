package history

import "math"

// Never is the time of what has not happened.
const Never = math.MaxInt64

// History is a whole run, put together from its lines.
type History struct {
	Operations []Operation // by the time of their call
	Streams    []Stream    // by the time of their call
	Windows    []Window    // by start
	Samples    []Event     // Probe lines
	Tenures    []Event     // Lead and Yield lines
	End        int64       // time of the last line
}

// Operation is a call and its answer.
type Operation struct {
	Index    int64 // of its Invoke line
	Process  string
	F        string
	Node     string
	Request  *Request
	Outcome  Type    // OK, Fail or Info; Info too if the history ends before the answer
	Answer   *Answer // nil if none is on record
	Invoked  int64
	Returned int64 // Never for Info
	Settled  int64 // when the harness gave it up, for Info; else as Returned
}

// Stream is a watch from its call to its end.
type Stream struct {
	Index   int64 // of its Invoke line
	Process string
	Node    string
	Request *Request
	Outcome Type // OK once it was open, Fail or Info if it never was
	Answer  *Answer
	Invoked int64
	Opened  int64 // Never if it was not
	Ended   int64 // Never if the history ends before
	Reason  string
	Changes []Arrival
}

// Arrival is a change and when it came.
type Arrival struct {
	Index int64
	Time  int64
	*Change
}

// Window is a fault from start to stop.
type Window struct {
	Fault
	Kind  string // F of its lines
	Index int64
	Start int64
	Stop  int64 // Never if it was not stopped
}
