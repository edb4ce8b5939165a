package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// account is what one client says about its Lease.
type account struct {
	base  int64           // counter before its first write
	fates map[string]fate // of its attempts
}

// audit compares a full record of events after base with what clients were told, and returns what cannot be. The record
// must hold every revision once, in order: nobody else writes. The counter of each Lease must go up by one with each
// event, every acknowledged attempt must be there once under the revision that its client was told, one with an unknown
// outcome at most once, and no other at all.
func audit(base uint64, events []event, clients map[string]account) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	counts, seen := map[string]int64{}, map[string]bool{}
	for _, e := range events {
		if base++; e.revision != base {
			say("revision %d follows %d", e.revision, base-1)
			base = e.revision
		}
		client, known := clients[e.lease]
		if !known {
			say("%d: %s of a Lease that nobody wrote: %s", e.revision, e.kind, e.lease)
			continue
		}
		if _, begun := counts[e.lease]; !begun {
			counts[e.lease] = client.base
		}
		if counts[e.lease]++; e.count != counts[e.lease] {
			say("%d: counter of %s is %d instead of %d", e.revision, e.lease, e.count, counts[e.lease])
			counts[e.lease] = e.count
		}
		attempt, known := client.fates[e.attempt]
		switch {
		case !known:
			say("%d: %s was refused, or sent by nobody, and is there", e.revision, e.attempt)
		case seen[e.attempt]:
			say("%d: %s is there twice", e.revision, e.attempt)
		case attempt.acknowledged && attempt.revision != e.revision:
			say("%d: %s was acknowledged as %d", e.revision, e.attempt, attempt.revision)
		}
		seen[e.attempt] = true
	}
	for _, lease := range slices.Sorted(maps.Keys(clients)) {
		for _, attempt := range slices.Sorted(maps.Keys(clients[lease].fates)) {
			if fate := clients[lease].fates[attempt]; fate.acknowledged && !seen[attempt] {
				say("%s was acknowledged as %d and is lost", attempt, fate.revision)
			}
		}
	}
	return wrong
}

// assertWitnessed waits for all that happened and audits it, in the record of each witness.
func (c *cluster) assertWitnessed(witnesses []*witness, accounts map[string]account) {
	c.t.Helper()
	last := c.newestRevision()
	for i, r := range witnesses {
		s := r.upTo(last)
		require.Empty(c.t, s.fault, "witness %d at %d", i, s.cursor)
		require.GreaterOrEqual(c.t, s.cursor, last, "witness %d has not heard of everything; watches: %v", i, s.resumed)
		wrong := audit(r.base, s.events, accounts)
		if len(wrong) > 10 {
			wrong = append(wrong[:10], fmt.Sprintf("and %d more", len(wrong)-10))
		}
		require.Empty(c.t, wrong, "witness %d, from %d to %d", i, r.base, s.cursor)
	}
}

// newestRevision returns the revision of a default read, from any node that answers one.
func (c *cluster) newestRevision() uint64 {
	c.t.Helper()
	var revision uint64
	require.Eventually(c.t, func() bool {
		for k := 1; k <= 3 && revision == 0; k++ {
			if list, err := c.newRenewer("", k).list(); err == nil {
				revision = list
			}
		}
		return revision != 0
	}, patience, 100*time.Millisecond)
	return revision
}

func TestAuditFindsWhatCannotBe(t *testing.T) {
	sound := func() ([]event, map[string]account) {
		return []event{
				{"ADDED", 11, "a", "a#1", 1},
				{"MODIFIED", 12, "b", "b#1", 8},
				{"MODIFIED", 13, "a", "a#2", 2}, // its client never heard
				{"MODIFIED", 14, "a", "a#4", 3},
			}, map[string]account{
				"a": {0, map[string]fate{"a#1": {true, 11}, "a#2": {}, "a#3": {}, "a#4": {true, 14}}},
				"b": {7, map[string]fate{"b#1": {true, 12}}},
			}
	}
	events, accounts := sound()
	require.Empty(t, audit(10, events, accounts))
	for name, break_ := range map[string]struct {
		change func(events []event, accounts map[string]account) []event
		finds  string
	}{
		"a gap": {func(events []event, _ map[string]account) []event { return slices.Delete(events, 1, 2) },
			"revision 13 follows 11"},
		"a lost write": {func(events []event, _ map[string]account) []event { return events[:3] },
			"a#4 was acknowledged as 14 and is lost"},
		"a repeat": {func(events []event, _ map[string]account) []event { return append(events, events[3]) },
			"revision 14 follows 14"},
		"a doubled write": {func(events []event, _ map[string]account) []event {
			return append(events, event{"MODIFIED", 15, "a", "a#4", 4})
		}, "a#4 is there twice"},
		"a refused write": {func(events []event, accounts map[string]account) []event {
			delete(accounts["a"].fates, "a#2")
			return events
		}, "a#2 was refused"},
		"a write under another revision": {func(events []event, accounts map[string]account) []event {
			accounts["b"].fates["b#1"] = fate{true, 11}
			return events
		}, "b#1 was acknowledged as 11"},
		"a counter that jumps": {func(events []event, _ map[string]account) []event {
			events[3].count = 4
			return events
		}, "counter of a is 4 instead of 3"},
		"a deletion": {func(events []event, _ map[string]account) []event {
			return append(events, event{"DELETED", 15, "a", "a#4", 3})
		}, "counter of a is 3 instead of 4"},
	} {
		events, accounts := sound()
		wrong := audit(10, break_.change(events, accounts), accounts)
		assert.Contains(t, strings.Join(wrong, "\n"), break_.finds, name)
	}
}
