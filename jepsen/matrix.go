package jepsen

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Matrix is a plan of many runs: workloads times faults, alone and in pairs, on clusters of several sizes, each with a
// seed of its own, until the budget is used up.
type Matrix struct {
	Budget    time.Duration
	Seed      uint64
	Workloads []string
	Singles   []string
	Pairs     []string
	Sizes     []int
	Base      Spec // what all runs share
}

// Specs yields the runs in an order that is the same for one seed: first each kind of fault alone under the mixed
// workload, so that a short budget sees all of them, then pairs and the other workloads in turn, for ever.
func (m Matrix) Specs(yield func(Spec) bool) {
	random := rand.New(rand.NewPCG(m.Seed, 0))
	seed := m.Seed
	emit := func(workloads []string, singles, pairs []string, size int) bool {
		s := m.Base
		s.Workloads, s.Nemesis, s.Pairs, s.Nodes, s.Seed = workloads, singles, pairs, size, seed
		seed++
		return yield(s)
	}
	for round := 0; ; round++ {
		size := m.Sizes[round%len(m.Sizes)]
		for _, i := range random.Perm(len(m.Singles)) {
			workload := "mixed"
			if round > 0 {
				workload = m.Workloads[random.IntN(len(m.Workloads))]
			}
			if !emit([]string{workload}, []string{m.Singles[i]}, nil, size) {
				return
			}
		}
		for _, i := range random.Perm(len(m.Pairs)) {
			if !emit([]string{m.Workloads[random.IntN(len(m.Workloads))]}, nil, []string{m.Pairs[i]}, size) {
				return
			}
		}
		for _, name := range m.Workloads {
			if !emit([]string{name}, m.some(random), nil, size) {
				return
			}
		}
		if len(m.Singles)+len(m.Pairs)+len(m.Workloads) == 0 {
			return
		}
	}
}

// some returns a few kinds of faults that run at once, as streams of their own.
func (m Matrix) some(random *rand.Rand) []string {
	var kinds []string
	for _, i := range random.Perm(len(m.Singles))[:min(4, len(m.Singles))] {
		kinds = append(kinds, m.Singles[i])
	}
	return kinds
}

func (m Matrix) String() string {
	return fmt.Sprintf("%d workloads, %d kinds of faults, %d pairs, clusters of %v nodes, for %v", len(m.Workloads), len(m.Singles), len(m.Pairs), m.Sizes, m.Budget)
}

// UsualPairs are the pairs of faults that a matrix takes if none are named: each of a few kinds that stop nodes or links
// with each of those that spoil what the others rely on.
func UsualPairs() []string {
	var pairs []string
	for _, a := range []string{"kill-leader", "pause-leader", "partition-leader", "partition-one-way", "power-loss-one", "transfer"} {
		for _, b := range []string{"partition-one", "partition-flapping", "delay", "loss", "slow-disk", "snapshot-pressure", "clock-rate", "pause-one", "reset"} {
			pairs = append(pairs, a+"+"+b)
		}
	}
	return pairs
}
