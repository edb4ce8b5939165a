package testbed

import (
	"slices"
	"time"
)

// line holds the packets of one direction until they are due, in their order.
type line struct {
	queue chan latePacket
	last  time.Time // when the last one is due; only who adds reads and writes it
}

type latePacket struct {
	packet packet
	due    time.Time
}

// packetsUnderWay bounds what a line holds. What comes beyond that is lost, as in a router.
const packetsUnderWay = 8192

func newLine() *line { return &line{queue: make(chan latePacket, packetsUnderWay)} }

// add is called by one goroutine, with a packet whose bytes are its again afterwards.
func (l *line) add(p packet, due time.Time) {
	if due.Before(l.last) {
		due = l.last
	}
	l.last = due
	select {
	case l.queue <- latePacket{slices.Clone(p), due}:
	default:
	}
}

// run delivers until closed is closed.
func (l *line) run(closed <-chan struct{}, deliver func(packet)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var next latePacket
		select {
		case next = <-l.queue:
		case <-closed:
			return
		}
		timer.Reset(time.Until(next.due))
		select {
		case <-timer.C:
			deliver(next.packet)
		case <-closed:
			return
		}
	}
}
