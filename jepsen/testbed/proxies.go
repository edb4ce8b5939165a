package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/leasehold/leasehold/jepsen/nemesis"
)

// proxies is the network of mode Proxy: every place has a door of its own to every node, so that each node sees its
// peers at other addresses than they see each other.
type proxies struct {
	nodes     []string
	links     *links
	own       map[string]*nodePorts // where nodes really listen
	doors     map[direction]*door
	launchers map[string]*launcher
}

type nodePorts struct{ api, peer *port }

// newProxies keeps all ports that are needed: those from first on, or any if that is 0.
func newProxies(nodes []string, first int) (network, error) {
	n := &proxies{nodes: nodes, links: newLinks(), own: map[string]*nodePorts{}, doors: map[direction]*door{}, launchers: map[string]*launcher{}}
	if err := n.layOut(first); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *proxies) layOut(next int) error {
	reserve := func() (*port, error) {
		p, err := reservePort(next)
		if next > 0 {
			next++
		}
		return p, err
	}
	for _, node := range n.nodes {
		own := &nodePorts{}
		n.own[node] = own
		var err error
		if own.api, err = reserve(); err != nil {
			return err
		}
		if own.peer, err = reserve(); err != nil {
			return err
		}
		if n.launchers[node], err = startLauncher(nil); err != nil {
			return err
		}
	}
	for _, to := range n.nodes {
		for _, from := range append([]string{nemesis.Client}, n.nodes...) {
			if from == to {
				continue
			}
			behind := n.own[to].peer
			if from == nemesis.Client {
				behind = n.own[to].api
			}
			at, err := reserve()
			if err != nil {
				return err
			}
			way := direction{from, to}
			n.doors[way] = newDoor(n.links, way, at, behind.address())
		}
	}
	return nil
}

func (n *proxies) supports(c nemesis.Capability) error {
	if c == nemesis.CanLosePackets {
		return fmt.Errorf("mode %s passes streams on and sees no packets that it could lose: %w", Proxy, nemesis.ErrUnsupported)
	}
	return nil
}

func (n *proxies) addresses(node string) addresses {
	a := addresses{
		api:    n.own[node].api.address(),
		peer:   n.own[node].peer.address(),
		public: n.doors[direction{nemesis.Client, node}].port.address(),
		peers:  map[string]string{node: n.own[node].peer.address()},
	}
	for _, other := range n.nodes {
		if other != node {
			a.peers[other] = n.doors[direction{node, other}].port.address()
		}
	}
	return a
}

func (n *proxies) launcher(node string) *launcher { return n.launchers[node] }

func (n *proxies) set(d direction, c nemesis.Condition) {
	n.links.set(d, c)
	if !c.Reset {
		return
	}
	for _, way := range []direction{d, d.back()} {
		if door := n.doors[way]; door != nil {
			door.reset()
		}
	}
}

func (n *proxies) up(node string) error {
	for way, door := range n.doors {
		if way.to != node {
			continue
		}
		if err := door.open(); err != nil {
			return err
		}
	}
	return nil
}

func (n *proxies) down(node string) {
	for way, door := range n.doors {
		if way.to == node {
			door.shut()
		}
	}
}

func (n *proxies) dial(ctx context.Context, node string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp4", n.doors[direction{nemesis.Client, node}].port.address())
}

func (n *proxies) inside(ctx context.Context, node string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp4", n.own[node].api.address())
}

func (n *proxies) close() error {
	for _, door := range n.doors {
		door.close()
	}
	for _, own := range n.own {
		for _, p := range []*port{own.api, own.peer} {
			if p != nil {
				p.release()
			}
		}
	}
	for _, l := range n.launchers {
		l.close()
	}
	return nil
}
