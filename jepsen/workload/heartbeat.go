package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasehold/leasehold/jepsen/history"
)

const (
	// renewal is how often a kubelet renews its Lease, of four times that duration, and attempts how often it tries each time.
	renewal       = 10 * time.Second
	leaseDuration = 40
	attempts      = 5
)

// heartbeats has as many nodes renew a Lease each, as kubelets do, as make up the rate. Each is a client of its own that
// stays with one node of the cluster until that fails it.
func heartbeats(ctx context.Context, j *job) error {
	var all sync.WaitGroup
	for n := range max(1, int(j.rate*renewal.Seconds())) {
		k := &kubelet{worker: j.scene.worker(fmt.Sprintf("%s-%d", j.label, n)), key: fmt.Sprintf("%s/node-%05d", j.namespace(0), n), node: n}
		all.Go(func() { k.run(ctx) })
	}
	all.Wait()
	return nil
}

type kubelet struct {
	*worker
	key  string
	node int             // of the endpoints
	last history.Version // of its Lease, as far as it knows
}

func (k *kubelet) run(ctx context.Context) {
	// The first renewals spread over the whole interval; afterwards each takes up to 4 % more than that, as a kubelet's.
	if !sleep(ctx, time.Duration(k.rng.Int64N(int64(renewal)))) {
		return
	}
	for {
		k.renew(ctx)
		if !sleep(ctx, renewal+time.Duration(k.rng.Int64N(int64(renewal/25)))) {
			return
		}
	}
}

// renew tries until it is done, but not for ever: the next renewal comes anyway.
func (k *kubelet) renew(ctx context.Context) {
	for range attempts {
		if k.attempt(ctx) {
			return
		}
		if !sleep(ctx, time.Duration(100+k.rng.IntN(100))*time.Millisecond) {
			return
		}
	}
}

// attempt writes the Lease on condition of the version known, and reads it first if none is.
func (k *kubelet) attempt(ctx context.Context) bool {
	e := k.scene.Endpoints[k.node%len(k.scene.Endpoints)]
	if k.last.Revision == 0 {
		r := k.get(ctx, e, k.key)
		switch {
		case r.ok():
			k.last = r.version()
		case r.Answer.Code != 404:
			k.node++
			return false
		}
	}
	c := content{Key: k.key, ID: k.next(), Holder: k.name, Seconds: leaseDuration, Renewed: microTime(time.Now())}
	var r result
	if k.last.Revision == 0 {
		r = k.create(ctx, e, c)
	} else {
		c.UID, c.Revision = k.last.UID, text(k.last.Revision)
		r = k.update(ctx, e, c, false, false)
	}
	k.last = r.version()
	if !r.ok() && r.Answer.Code/100 != 4 {
		k.node++
	}
	return r.ok()
}

// microTime is a time as Kubernetes writes those of a Lease.
func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
