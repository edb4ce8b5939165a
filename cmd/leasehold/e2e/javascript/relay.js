// A relay to a node that counts connections and can cut them all. It passes TLS on unopened.

import { connect, createServer } from 'node:net';

import { config } from './cluster.js';

export async function startRelay(node) {
  const { hostname, port } = new URL(config(node).getCurrentCluster().server);
  const pairs = new Set();
  const relay = { connections: 0, cut: () => pairs.forEach((socket) => socket.resetAndDestroy()), stop };
  const server = createServer((incoming) => {
    relay.connections++;
    const outgoing = connect(Number(port), hostname);
    for (const [one, other] of [[incoming, outgoing], [outgoing, incoming]]) {
      pairs.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => pairs.delete(one));
    }
  });
  function stop() {
    relay.cut();
    server.close();
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  relay.url = `https://127.0.0.1:${server.address().port}`;
  return relay;
}
