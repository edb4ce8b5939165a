package check

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/leasehold/leasehold/jepsen/history"
)

// The second opinion is another's checker (porcupine), which searches for an order of the operations on each object and
// knows nothing of the order of revisions. What it is given: a version is the revision that its writer was told, one that
// nobody was told is the operation itself.

// The bounds of what it can search within memory and time.
const (
	linearClients    = 10
	linearOperations = 1000
)

// register is the state of one object: 0 if it is absent, a revision, or minus the number of an operation of which nobody
// knows the revision.
type register int64

// step is one operation as porcupine is given it.
type step struct {
	op       int32
	f        string
	outcome  history.Type
	demanded int64    // precondition on the version, 0 for none
	version  register // that a write made, or that a read saw
	says     int      // of a refusal
	call     string   // for a person
}

var seed = maphash.MakeSeed()

func linearModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{register(0)} },
		Step: func(state, input, _ any) []any {
			return linearStep(state.(register), input.(*step))
		},
		Hash:              func(state any) uint64 { return maphash.Comparable(seed, state.(register)) },
		DescribeOperation: func(input, _ any) string { return input.(*step).call },
		DescribeState: func(state any) string {
			switch at := state.(register); {
			case at == 0:
				return "absent"
			case at < 0:
				return "a version of unknown revision"
			default:
				return "revision " + strconv.FormatInt(int64(at), 10)
			}
		},
	}
	return model.ToModel()
}

// linearStep returns the states that an operation may leave, none if it cannot have been answered so.
func linearStep(at register, s *step) []any {
	if s.outcome == history.Info {
		states := []any{at} // it may never have taken effect
		if s.allowed(at) {
			states = append(states, s.after())
		}
		return states
	}
	if s.outcome == history.Fail {
		ok := true
		switch s.says {
		case absent:
			ok = at == 0
		case present:
			ok = at != 0
		case differs:
			ok = at != 0 && int64(at) != s.demanded
		case other:
			ok = int64(at) != s.demanded
		}
		if ok {
			return []any{at}
		}
		return nil
	}
	if s.f == history.Get {
		if at == s.version {
			return []any{at}
		}
		return nil
	}
	if s.allowed(at) {
		return []any{s.after()}
	}
	return nil
}

// allowed tells whether a write takes effect in a state.
func (s *step) allowed(at register) bool {
	switch s.f {
	case history.Create, history.Put:
		return at == 0
	case history.Update:
		return at == 0 || int64(at) == s.demanded
	default:
		return at != 0 && (s.demanded == 0 || int64(at) == s.demanded)
	}
}

func (s *step) after() register {
	if s.f == history.Delete {
		return 0
	}
	return s.version
}

// partition is the operations on one object.
type partition struct {
	key int32
	ops []porcupine.Operation
}

// partitions gathers what the second opinion can be asked about, at most limit operations.
func (l *log) partitions(limit int) []partition {
	perKey := make([][]int32, len(l.keys))
	for i := range l.h.Operations {
		if key := l.opKey[i]; key != none && len(perKey[key]) <= linearOperations {
			perKey[key] = append(perKey[key], int32(i))
		}
	}
	var all []partition
	total := 0
	for key, ops := range perKey {
		if len(ops) > linearOperations || len(ops) == 0 || !l.suits(int32(key)) {
			continue
		}
		if slices.ContainsFunc(ops, l.orphaned) {
			continue
		}
		p := partition{key: int32(key)}
		clients := make(map[string]int)
		for _, i := range ops {
			if o, ok := l.linear(i, clients); ok {
				p.ops = append(p.ops, o)
			}
		}
		if len(p.ops) == 0 || crowd(p.ops) > linearClients {
			continue
		}
		if total += len(p.ops); total > limit {
			break
		}
		all = append(all, p)
	}
	return all
}

// suits tells whether all that happened to an object is the work of operations of this history, each by itself.
func (l *log) suits(key int32) bool {
	if l.foreign(l.keys[key]) || !l.options.own(l.keys[key]) {
		return false
	}
	for _, at := range l.byKey[key] {
		e := &l.entries[at]
		if e.writer == none || l.opKey[e.writer] != key || e.disputed || e.revision > math.MaxInt64 ||
			l.h.Operations[e.writer].F == history.Delete && !e.gone {
			return false
		}
	}
	return true
}

// orphaned tells whether a write was acknowledged with a revision that the log holds to be another's, which is told already.
func (l *log) orphaned(i int32) bool {
	op := &l.h.Operations[i]
	return op.Outcome == history.OK && writes(op.F) && op.F != history.Delete && !op.Request.Same && l.opEntry[i] == none
}

// linear makes an operation into what porcupine is given. It leaves out what says nothing of one object's state.
func (l *log) linear(i int32, clients map[string]int) (porcupine.Operation, bool) {
	op := &l.h.Operations[i]
	s := &step{op: i, f: op.F, outcome: op.Outcome, version: -register(i) - 1}
	s.demanded, _ = strconv.ParseInt(op.Request.Revision, 10, 64)
	returned := op.Returned
	at := l.opEntry[i]
	if at != none {
		s.outcome, s.version = history.OK, register(l.entries[at].revision)
		returned = min(returned, l.entries[at].seen)
	}
	switch {
	case op.F == history.Get || op.Request.Same:
		if op.F == history.Get && op.Request.Revision != "" || op.Outcome == history.Info || op.Answer == nil {
			return porcupine.Operation{}, false
		}
		s.f = history.Get
		if op.Outcome == history.OK {
			if op.Answer.Version == nil || op.Answer.Version.Revision == 0 {
				return porcupine.Operation{}, false
			}
			s.version = register(op.Answer.Version.Revision)
		}
	case !writes(op.F):
		return porcupine.Operation{}, false
	case s.outcome == history.Info && !l.open(l.opKey[i], op.Invoked+1):
		return porcupine.Operation{}, false // it did not take effect
	}
	if s.outcome == history.Fail {
		if op.Answer == nil {
			return porcupine.Operation{}, false
		}
		if s.says = claim(op); s.says == nothing {
			return porcupine.Operation{}, false
		}
	}
	client, ok := clients[op.Process]
	if !ok {
		client = len(clients)
		clients[op.Process] = client
	}
	if returned == history.Never {
		returned = l.h.End + 1
	}
	s.call = fmt.Sprintf("%s %s", op.F, answer(op))
	if s.version > 0 && s.outcome == history.OK {
		s.call = fmt.Sprintf("%s %d", op.F, s.version)
	}
	return porcupine.Operation{ClientId: client, Input: s, Call: op.Invoked, Return: max(returned, op.Invoked)}, true
}

// crowd is how many operations are under way at once, at most.
func crowd(ops []porcupine.Operation) int {
	type edge struct {
		time int64
		by   int
	}
	var edges []edge
	for _, op := range ops {
		edges = append(edges, edge{op.Call, 1}, edge{op.Return, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.time != b.time && a.time < b.time:
			return -1
		case a.time != b.time:
			return 1
		}
		return b.by - a.by
	})
	now, most := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// judgeLinear asks for the second opinion. Where it finds fault and no other checker does, one of the two is wrong, and that
// is a finding about the harness.
func judgeLinear(l *log, others []Result) Result {
	r := l.reporter("linear", "O1", "O2", "O3", "O4", "O5", "O7")
	accused := make(map[string]bool)
	overfull := false
	for _, result := range others {
		overfull = overfull || result.More > 0
		for _, f := range result.Findings {
			for _, key := range f.Keys {
				accused[key] = true
			}
		}
	}
	model := linearModel()
	deadline := r.begun.Add(l.options.LinearTimeout)
	all := l.partitions(l.options.LinearOperations)
	for _, p := range all {
		left := time.Until(deadline)
		if left <= 0 {
			r.note(Unknown, "linear", evidence{l.h.End, l.h.End, nil, nil}, "the second opinion had no time for all objects within %s", l.options.LinearTimeout)
			break
		}
		switch porcupine.CheckOperationsTimeout(model, p.ops, left) {
		case porcupine.Ok:
			r.result.Checked += len(p.ops)
		case porcupine.Unknown:
			r.note(Unknown, "linear", evidence{l.h.End, l.h.End, nil, []string{l.keys[p.key]}}, "the second opinion came to no end about %s with %d operations within %s", l.keys[p.key], len(p.ops), l.options.LinearTimeout)
		case porcupine.Illegal:
			r.result.Checked += len(p.ops)
			first := &l.h.Operations[p.ops[0].Input.(*step).op]
			proof := evidence{first.Invoked, first.Invoked, []int64{first.Index}, []string{l.keys[p.key]}}
			if accused[l.keys[p.key]] || overfull {
				r.result.Note = "agrees that some objects are not linearizable"
				r.result.Verdict = Broken
				continue
			}
			r.broke("harness", proof, "two checkers disagree about %s: no order of its %d operations is linearizable, but the order of revisions is; one of the two is wrong", l.keys[p.key], len(p.ops))
		}
	}
	if r.result.Note == "" {
		r.result.Note = strconv.Itoa(len(all)) + " objects"
	}
	return r.done()
}
