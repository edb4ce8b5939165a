package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

// How long a fault that wants the leader waits for one, and how long a fault may take to be put in force and to be ended.
const (
	leaderPatience = 8 * time.Second
	effort         = 2 * time.Minute
)

// attack is one entry of a schedule while it is done.
type attack struct {
	*Nemesis
	Entry
	kind    Kind
	ctx     context.Context // of what is being done: in last it ends when the fault should
	lasting context.Context // does not end with the run; what leaves the cluster in between must be brought to an end
	random  *rand.Rand

	nodes  []string          // on whom
	detail map[string]string // what became known, for the history

	before scene   // when it struck
	read   Reading // when it struck
	struck time.Time
}

// attack does one entry from start to stop.
func (n *Nemesis) attack(ctx context.Context, e Entry) {
	kind, err := kindNamed(e.Kind)
	if err != nil || n.isRefused(e.Kind) {
		return
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(e.For)+2*effort)
	defer cancel()
	a := &attack{Nemesis: n, Entry: e, kind: kind, ctx: ctx, lasting: lasting, random: rand.New(rand.NewPCG(e.Seed, 0)),
		detail: make(map[string]string)}
	if e.Pair != "" {
		a.note("pair", "%s", e.Pair)
	}
	a.before = n.observer.now(ctx)
	err = kind.act.aim(a)
	if ctx.Err() != nil {
		a.lift() // what aim may have laid a claim to; it wants nothing of the cluster yet
		return
	}
	a.read, a.struck = n.hooks.Meter.Read(), time.Now()
	a.note("inFlight", "%d", a.read.InFlight)
	a.record(history.Start, "", nil)
	effect := ""
	if err == nil {
		effect, err = a.do(ctx)
	}
	a.note("calls", "%d", n.hooks.Meter.Read().Called-a.read.Called)
	err = errors.Join(err, a.lift()) // Heal tries again what lift could not do
	a.record(history.Stop, effect, err)
	switch {
	case errors.Is(err, ErrLetIn):
		n.report(fmt.Errorf("%s: %w", e.Name, err))
	case errors.Is(err, ErrUnsupported):
		n.refuse(e.Kind)
	}
}

// do puts the fault in force for its time, and returns what shows that it was felt.
func (a *attack) do(ctx context.Context) (effect string, err error) {
	striking, cancel := context.WithTimeout(ctx, effort)
	defer cancel()
	a.ctx = striking
	if err := a.kind.act.strike(a); err != nil {
		return "", err
	}
	during, cancel := context.WithTimeout(ctx, time.Duration(a.For))
	defer cancel()
	a.ctx = during
	if a.kind.act.last != nil {
		err = a.kind.act.last(a)
	} else {
		a.wait()
	}
	a.observer.look(a.lasting, a.ward.nodes...) // also where the run was broken off
	return a.kind.act.felt(a), err
}

// lift ends the fault.
func (a *attack) lift() error {
	a.ctx = a.lasting
	if a.kind.act.lift != nil {
		return a.kind.act.lift(a)
	}
	return a.ward.release(a.ctx, a.Name)
}

// record writes a line of the history. Its maps and slices must not change any more, so it gets copies.
func (a *attack) record(t history.Type, effect string, err error) {
	f := &history.Fault{Name: a.Name, Family: a.kind.Family, Nodes: slices.Clone(a.nodes), Detail: maps.Clone(a.detail), Effect: effect}
	if err != nil {
		f.Error = err.Error()
	}
	a.recorder.Record(history.Event{Process: Process, Type: t, F: a.Kind, Fault: f})
}

// inOrder are the names of all nodes in the entry's order.
func (a *attack) inOrder() []string {
	names := make([]string, len(a.Order))
	for i, n := range a.Order {
		names[i] = a.ward.nodes[n]
	}
	return names
}

// others are all nodes but the given ones, in the entry's order.
func (a *attack) others(but ...string) []string {
	return slices.DeleteFunc(a.inOrder(), func(node string) bool { return slices.Contains(but, node) })
}

// note adds to what the history tells of the fault.
func (a *attack) note(what, format string, args ...any) {
	a.detail[what] = fmt.Sprintf(format, args...)
}

// aimAtOne takes the first node in order that no other fault is busy with, or else the first; or the leader if the entry says so.
func aimAtOne(a *attack) error {
	if a.Leader {
		return aimAtLeader(a)
	}
	a.nodes = []string{a.firstSpared(a.inOrder())}
	return nil
}

func (a *attack) firstSpared(nodes []string) string {
	spared := a.ward.spared()
	for _, node := range nodes {
		if slices.Contains(spared, node) {
			return node
		}
	}
	return nodes[0]
}

// aimAtLeader takes the node that leads, or, if none comes to lead in time, any.
func aimAtLeader(a *attack) error {
	leader := a.findLeader()
	if leader == "" {
		leader = a.firstSpared(a.inOrder())
		a.note("leader", "none was known")
	}
	a.nodes = []string{leader}
	return nil
}

// findLeader returns the node that leads, and waits for one if the last that did is down or paused.
func (a *attack) findLeader() string {
	if leader := a.before.leader; leader != "" {
		if want := a.ward.wanted(leader); !want.down && !want.paused {
			return leader
		}
	}
	a.before = a.observer.awaitLeader(a.ctx, leaderPatience)
	return a.before.leader
}

// aimAtFollower takes the first node in order that does not lead.
func aimAtFollower(a *attack) error {
	a.nodes = []string{a.firstSpared(a.others(a.findLeader()))}
	return nil
}

func aimAtMinority(a *attack) error {
	a.nodes = a.inOrder()[:max(1, minority(len(a.Order)))]
	return nil
}

func aimAtMajority(a *attack) error {
	a.nodes = a.inOrder()[:len(a.Order)/2+1]
	return nil
}

func aimAtAll(a *attack) error {
	a.nodes = a.inOrder()
	return nil
}

// aimWide takes all nodes or one, as the entry says.
func aimWide(a *attack) error {
	if a.Wide {
		return aimAtAll(a)
	}
	return aimAtOne(a)
}

// wait goes on until the fault should end.
func (a *attack) wait() { <-a.ctx.Done() }

// sleep waits for d, and returns whether the fault should still go on.
func (a *attack) sleep(d time.Duration) bool {
	sleep(a.ctx, d)
	return a.ctx.Err() == nil
}

// cut makes all conditions that the fault wants of links these.
func (a *attack) cut(conditions map[link]Condition) error {
	return a.ward.links.set(a.Name, conditions)
}
