// How this client connects.

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';

import { config, k8s, lease, leases, nodes, path } from './cluster.js';
import { startRelay } from './relay.js';

const namespace = 'javascript-connections';
const first = process.env.LEASEHOLD_CLIENT === 'client-node-1';

const checks = {
  'each request has a connection of its own': async () => {
    const relay = await startRelay(nodes[0]);
    const api = leases(nodes[0], { server: relay.url });
    await api.createNamespacedLease({ namespace, body: lease('one') });
    for (let turn = 0; turn < 9; turn++) await api.readNamespacedLease({ namespace, name: 'one' });
    assert.equal(relay.connections, 10);
    relay.stop();
  },

  [first ? 'speaks HTTP/1.1' : 'speaks HTTP/2']: async () => {
    const spoken = new Set();
    subscribe('http.client.response.finish', ({ response }) => spoken.add(`http/${response.httpVersion}`));
    subscribe('undici:client:connected', ({ socket }) => spoken.add(socket.alpnProtocol));
    await leases().listNamespacedLease({ namespace });
    assert.deepEqual([...spoken], [first ? 'http/1.1' : 'h2']);
  },
};

if (!first) {
  checks['watch that hears nothing is cut by the client itself'] = async () => {
    const watch = new k8s.Watch(config());
    assert.equal(watch.requestTimeoutMs, 30_000);
    watch.requestTimeoutMs = 300;
    const { metadata: { resourceVersion } } = await leases().listNamespacedLease({ namespace });
    const error = await new Promise((resolve) => watch.watch(path(namespace), { resourceVersion }, () => {}, resolve));
    assert.equal(error.name, 'TimeoutError');
  };
}

export default checks;
