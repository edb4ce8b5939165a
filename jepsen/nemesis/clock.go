package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// electionTimeout is the one that nodes have by default.
const electionTimeout = 500 * time.Millisecond

func clockKinds() []Kind {
	offset := func(r *rand.Rand, c *Choice) {
		c.Wide = r.IntN(4) == 0
		c.Offset = within(r, time.Minute, 2*time.Hour)
		if r.IntN(2) == 0 {
			c.Offset = -c.Offset
		}
	}
	set := func(a *attack) error {
		return a.demand(func(d *demand) { d.clock = time.Duration(a.Offset) })
	}
	return []Kind{
		{Name: "clock-jump", Family: Clocks, Does: "The wall clock of one node, or of all, jumps by minutes or hours, and back later.",
			Proof: "a node dates new objects wrongly", Needs: []Capability{CanSetClock}, draw: offset,
			act: act{aim: aimWide, strike: set, felt: misdated}},
		{Name: "clock-strobe", Family: Clocks, Does: "The wall clock of one node, or of all, jumps to and fro many times.",
			Proof: "a node dates new objects wrongly", Needs: []Capability{CanSetClock}, draw: offset,
			act: act{aim: aimWide, strike: set, last: strobe, felt: misdated}},
		{Name: "clock-rate", Family: Clocks, Does: "Nodes are restarted with clocks for elections that run at half to twice the speed, each at its own.",
			Proof: "they end, and are ready again", Nodes: 3, Needs: []Capability{CanScaleTimeouts}, Shortest: 8 * time.Second,
			draw: func(r *rand.Rand, c *Choice) {
				for range c.Order {
					// As many are faster as are slower.
					rate := 1 + r.Float64()
					if r.IntN(2) == 0 {
						rate = 1 / rate
					}
					c.Rates = append(c.Rates, rate)
				}
			},
			act: act{aim: aimAtAll, strike: rate, felt: restarted, lift: usualLife}},
	}
}

// strobe sets clocks right and wrong again, every moment.
func strobe(a *attack) error {
	times, wrong := 1, true
	for a.sleep(time.Duration(within(a.random, 50*time.Millisecond, 600*time.Millisecond))) {
		wrong = !wrong
		offset := time.Duration(0)
		if wrong {
			offset = time.Duration(a.Offset)
			times++
		}
		if err := a.demand(func(d *demand) { d.clock = offset }); err != nil {
			return err
		}
	}
	a.note("times", "%d", times)
	return nil
}

// misdated says that a node put a wrong date on an object.
func misdated(a *attack) string {
	for _, node := range a.nodes {
		if off, ok := a.hooks.Meter.dated(node, a.struck); ok && off.Abs() >= time.Duration(a.Offset).Abs()/2 {
			return fmt.Sprintf("%s dated an object %s off", node, off.Round(time.Second))
		}
	}
	return ""
}

func rate(a *attack) error {
	return a.live(func(i int) Life {
		timeout := time.Duration(float64(electionTimeout) / a.Rates[i]).Round(time.Millisecond)
		a.note(a.nodes[i], "rate %.2f", a.Rates[i])
		return Life{Flags: []string{"--election-timeout=" + timeout.String()}}
	})
}

// live has the nodes begin a new life each, one after the other, so that they go on working together.
func (a *attack) live(life func(i int) Life) error {
	var errs []error
	for i, node := range a.nodes {
		if a.ctx.Err() != nil {
			break
		}
		next := life(i)
		if err := a.ward.set(a.lasting, a.Name, []string{node}, func(d *demand) { d.life = next }); err != nil {
			errs = append(errs, err)
			continue
		}
		if a.observer.awaitReady(a.lasting, node, readyTime) {
			a.note("restarted", "%s", join(a.detail["restarted"], node))
		}
	}
	return errors.Join(errs...)
}

// usualLife is to lift what live began, likewise one after the other.
func usualLife(a *attack) error {
	errs := []error{a.ward.links.release(a.Name)}
	for _, node := range a.nodes {
		errs = append(errs, a.ward.set(a.ctx, a.Name, []string{node}, func(d *demand) { d.life = Life{} }))
		a.observer.awaitReady(a.ctx, node, readyTime)
	}
	return errors.Join(append(errs, a.ward.release(a.ctx, a.Name))...)
}

func join(list, item string) string {
	if list == "" {
		return item
	}
	return list + ", " + item
}
