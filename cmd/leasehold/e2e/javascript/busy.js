// A node that has no room for another request. Its test starts the cluster with room for one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import { config, directory, lease, leases, nodes, path, refused } from './cluster.js';

const namespace = 'javascript-busy';
const patience = 60_000;

// occupied runs something while a request whose body does not end keeps a node busy.
async function occupied(node, run) {
  const kubeconfig = config(node);
  const busy = request(kubeconfig.getCurrentCluster().server + path(namespace), {
    method: 'POST',
    ca: readFileSync(join(directory, 'ca.crt')),
    headers: { authorization: `Bearer ${kubeconfig.getCurrentUser().token}`, 'content-type': 'application/json', 'content-length': 2 },
  });
  busy.on('error', () => {}); // it is destroyed
  busy.write('{');
  await awaitCode(429, node);
  await run();
  busy.destroy();
  await awaitCode(200, node);
}

// awaitCode asks a node until it answers with a code.
async function awaitCode(code, node) {
  for (const deadline = Date.now() + patience; Date.now() < deadline;) {
    const answered = await leases(node).listNamespacedLease({ namespace }).then(() => 200, (error) => error.code);
    if (answered === code) return;
  }
  assert.fail(`${code} is not answered`);
}

export default {
  'any request is refused 429 and not sent again': () => occupied(nodes[0], async () => {
    const api = leases(nodes[0]);
    for (const call of [() => api.listNamespacedLease({ namespace }), () => api.createNamespacedLease({ namespace, body: lease('refused') })]) {
      const { reason, details } = await refused(429, call());
      assert.deepEqual([reason, details.retryAfterSeconds], ['TooManyRequests', 1]);
    }
    await assert.rejects(api.listNamespacedLease({ namespace }), (error) => error.headers['retry-after'] === '1');
  }),
};
