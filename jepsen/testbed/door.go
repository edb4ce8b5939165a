package testbed

import (
	"context"
	"net"
	"sync"
	"time"
)

// door is where one place finds a node: a port of the harness, behind which connections pass on to the node's own port.
// While no process of the node runs it is shut, so that who dials is refused as on a real machine.
type door struct {
	links  *links
	way    direction // from who dials to the node
	port   *port
	to     string // the node's own address
	served sync.WaitGroup

	mu       sync.Mutex // guards what follows
	listener net.Listener
	passages map[*passage]struct{}
	closed   bool
}

// maxPassages bounds the connections through one door, those included that wait for a link to heal.
const maxPassages = 4096

// dialTimeout bounds how long a node's own port may take to accept.
const dialTimeout = 10 * time.Second

func newDoor(l *links, way direction, p *port, to string) *door {
	return &door{links: l, way: way, port: p, to: to, passages: map[*passage]struct{}{}}
}

func (d *door) open() error {
	listener, err := d.port.listen()
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.listener = listener
	d.mu.Unlock()
	d.served.Go(func() { d.accept(listener) })
	return nil
}

// shut takes no more connections. Those that there are find out by themselves what became of the node.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil {
		d.listener.Close()
		d.listener = nil
	}
}

func (d *door) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		p := newPassage(d.links, d.way, near)
		if !d.admit(p) {
			p.finish(true)
			continue
		}
		d.served.Go(func() {
			defer d.forget(p)
			p.run(near, d.dial)
		})
	}
}

// admit takes note of a passage unless there are too many, or the link resets what goes over it.
func (d *door) admit(p *passage) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	forward, _ := d.links.at(d.way)
	back, _ := d.links.at(d.way.back())
	if d.closed || forward.Reset || back.Reset || len(d.passages) >= maxPassages {
		return false
	}
	d.passages[p] = struct{}{}
	return true
}

func (d *door) forget(p *passage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.passages, p)
}

// reset breaks every connection.
func (d *door) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.passages {
		p.finish(true)
	}
}

func (d *door) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, "tcp4", d.to)
}

// close ends everything and gives the port back.
func (d *door) close() {
	d.shut()
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.reset()
	d.served.Wait()
	d.port.release()
}
