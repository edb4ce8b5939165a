package fsm

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"time"
	"unsafe"

	"github.com/hashicorp/raft"

	"github.com/leasehold/leasehold/fsm/seeded"
)

// batch is the work on one ApplyBatch: the next view in the making.
type batch struct {
	next     *view
	revision uint64
	edit     edit // of the state's tree; its token is nil until the first change
	sessions *sessions
	id       []byte // scratch for the id of the present command's key
}

// Apply implements raft.FSM. Its response is a []Result, one for each command of the entry.
func (m *Machine) Apply(log *raft.Log) any { return m.ApplyBatch([]*raft.Log{log})[0] }

// ApplyBatch implements raft.BatchingFSM. The response to a command entry is a []Result, to any other entry nil. The
// machine keeps nothing of the entries' memory.
//
// It panics when an entry holds a command that this version does not know, or comes out of order: to skip it or to apply
// it again would make this replica differ from the others.
func (m *Machine) ApplyBatch(logs []*raft.Log) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	responses := make([]any, len(logs))
	next := *m.view.Load()
	next.window.checkpoint(next.state)
	var id [128]byte
	var path [8]step
	b := batch{next: &next, revision: next.state.revision, sessions: &m.sessions, id: id[:0]}
	b.edit.path = path[:0]
	for i, log := range logs {
		if log.Index <= b.next.index {
			panic(fmt.Sprintf("log entry %d comes after entry %d was applied; this node must stop, going on would "+
				"make its state differ from the other members'", log.Index, b.next.index))
		}
		if log.Type == raft.LogCommand {
			responses[i] = b.applyEntry(log)
		}
		b.next.index, b.next.term = log.Index, log.Term
	}
	m.publish(b.finish())
	return responses
}

// finish returns the view to publish.
func (b *batch) finish() *view {
	if b.revision != b.next.state.revision {
		b.next.state = &State{revision: b.revision, root: b.edit.root}
		b.next.changed = make(chan struct{})
		b.next.window.shrink(b.next.limit)
	}
	return b.next
}

func (b *batch) applyEntry(log *raft.Log) []Result {
	if len(log.Data) == 0 || log.Data[0] != EntryHeader {
		panic(undecodable(log, ErrEncoding))
	}
	results := make([]Result, 0, 1+len(log.Data)/256)
	for rest := log.Data[1:]; len(rest) > 0; {
		var command Command
		var err error
		if rest, err = decodeCommand(rest, &command); err != nil {
			panic(undecodable(log, err))
		}
		results = append(results, b.apply(&command))
	}
	return results
}

func undecodable(log *raft.Log, err error) string {
	return fmt.Sprintf("log entry %d of term %d cannot be applied: %v; this node must stop, going on would make its "+
		"state differ from the other members': start it with a version at least as new as theirs", log.Index, log.Term, err)
}

// apply applies one command. decodeCommand let only those pass whose Op is known here.
func (b *batch) apply(command *Command) Result {
	switch command.Op {
	case OpCreate, OpUpdate, OpDelete:
		return b.applyOnce(command)
	case OpOpenSession:
		return b.result(b.sessions.begin(command.Session, command.Node))
	case OpEndSession:
		b.sessions.end(command.Node)
	case OpCompact:
		b.compact(command)
	case OpForm:
		return b.result(b.form(command))
	}
	return b.result(Accepted)
}

func (b *batch) result(outcome Outcome) Result { return Result{Outcome: outcome, Revision: b.revision} }

// applyOnce applies an object command unless a copy of it was here before. The order is what makes it safe: first the
// session, for without one nothing is known of earlier copies; then the mark, below which results are forgotten; then
// the result of an earlier copy; and only a command that passed all three changes anything.
func (b *batch) applyOnce(command *Command) Result {
	session := b.sessions.find(command.Session)
	if session == nil {
		return b.result(Ended)
	}
	session.raise(command.Mark, command.Seq)
	if seeded.DoubleApply {
		return b.result(b.change(command))
	}
	if command.Seq <= session.mark {
		return b.result(Stale)
	}
	if result, ok := session.kept(command.Seq); ok {
		return result
	}
	result := b.result(b.change(command)) // change counts the revision
	session.keep(command.Seq, result)
	return result
}

// change does what an object command asks for, if its preconditions hold.
func (b *batch) change(command *Command) Outcome {
	if b.edit.token == nil {
		b.edit.begin(b.next.state.root)
	}
	b.id = command.Key.appendID(b.id[:0])
	id := unsafe.String(unsafe.SliceData(b.id), len(b.id)) // lives until the next command; the tree gets a copy
	current := b.edit.find(id)
	if command.Op == OpCreate {
		if current != nil {
			return Exists
		}
		b.create(command)
		return Accepted
	}
	if current == nil {
		return Missing
	}
	if !command.Expect.holds(current) {
		return Conflict
	}
	if command.Op == OpUpdate {
		b.update(current, command)
	} else {
		b.delete(id, current, command)
	}
	return Accepted
}

func (e Expect) holds(current *Object) bool {
	return (e.Revision == 0 || e.Revision == current.Revision) && (e.UID == "" || e.UID == current.UID)
}

func (b *batch) create(command *Command) {
	b.revision++
	id, key, uid := command.Key.owned(command.UID)
	object := &Object{
		Key:      key,
		UID:      uid,
		Revision: b.revision,
		Created:  b.revision,
		Data:     bytes.Clone(command.Object),
	}
	if seeded.FSMClock {
		object.Created = uint64(time.Now().UnixNano())
	}
	b.edit.insert(id, object)
	b.next.window.append(Event{Type: Added, Revision: b.revision, Object: object})
}

// update puts a new version in the place of current, on which the edit's last find ended. Data is copied: a slice of the
// entry would keep the whole entry, up to 1 MiB, in memory for as long as its last object stands.
func (b *batch) update(current *Object, command *Command) {
	b.revision++
	object := &Object{
		Key:      current.Key,
		UID:      current.UID,
		Revision: b.revision,
		Created:  current.Created,
		Data:     bytes.Clone(command.Object),
	}
	b.edit.replace(object)
	b.next.window.append(Event{Type: Modified, Revision: b.revision, Object: object, Previous: current})
}

func (b *batch) delete(id string, current *Object, command *Command) {
	b.revision++
	b.edit.remove(id)
	last := &Object{
		Key:      current.Key,
		UID:      current.UID,
		Revision: b.revision,
		Created:  current.Created,
		Data:     current.Data,
	}
	if len(command.Object) > 0 && !bytes.Equal(command.Object, current.Data) {
		last.Data = bytes.Clone(command.Object)
	}
	b.next.window.append(Event{Type: Deleted, Revision: b.revision, Object: last, Previous: current})
}

// compact forgets what the leader chose to forget, at this place in the log and so on all members alike.
func (b *batch) compact(command *Command) {
	if command.HistoryBytes > 0 {
		b.next.window.shrink(b.next.limit) // as a batch that ended here would have done
		b.next.limit = command.HistoryBytes
		b.next.window.shrink(b.next.limit)
	}
	b.next.window.forget(command.Revision)
}

// form records the members of a new cluster. A second one is a copy, or comes from a node that did not know.
func (b *batch) form(command *Command) Outcome {
	if len(b.next.incarnations) == 0 {
		b.next.incarnations = make(map[string]string, len(command.Incarnations))
		for node, incarnation := range command.Incarnations {
			b.next.incarnations[strings.Clone(node)] = strings.Clone(incarnation)
		}
		return Accepted
	}
	if maps.Equal(b.next.incarnations, command.Incarnations) {
		return Accepted
	}
	return Exists
}
