package nemesis

import (
	"maps"
	"slices"
	"time"
)

// demand is what one fault wants of one node. The zero value wants nothing.
type demand struct {
	down   bool
	paused bool
	full   bool
	disk   Disk
	clock  time.Duration
	life   Life
}

// compose returns what a node has to be while all the demands are in force: whatever is bad for anyone is bad, and what has
// a measure adds up. It is good again only when the last of them is gone.
func compose(demands map[string]demand) demand {
	var all demand
	for _, name := range slices.Sorted(maps.Keys(demands)) {
		d := demands[name]
		all.down = all.down || d.down
		all.paused = all.paused || d.paused
		all.full = all.full || d.full
		all.disk.SyncDelay += d.disk.SyncDelay
		all.disk.SyncError = all.disk.SyncError || d.disk.SyncError
		all.disk.WriteError = all.disk.WriteError || d.disk.WriteError
		all.clock += d.clock
		all.life.Flags = append(all.life.Flags, d.life.Flags...)
		all.life.Env = append(all.life.Env, d.life.Env...)
	}
	return all
}

// link is a way for packets, in one direction.
type link struct{ from, to string }

// longestDelay bounds what delays add up to: beyond it a link is as good as cut, and takes long to drain.
const longestDelay = 2 * time.Second

// blend returns the condition of a link that all the conditions are in force on.
func blend(conditions map[string]Condition) Condition {
	var all Condition
	pass := 1.0
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		c := conditions[name]
		all.Drop = all.Drop || c.Drop
		all.Reset = all.Reset || c.Reset
		pass *= 1 - c.Loss
		all.Delay = min(all.Delay+c.Delay, longestDelay)
		all.Jitter = max(all.Jitter, c.Jitter)
	}
	if pass < 1 {
		all.Loss = 1 - pass
	}
	return all
}

func sameLife(a, b Life) bool { return slices.Equal(a.Flags, b.Flags) && slices.Equal(a.Env, b.Env) }
