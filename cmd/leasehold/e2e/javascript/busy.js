// A node that has no room for another request. Its test starts the cluster with room for one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import { config, directory, lease, leases, nodes, path, refused } from './cluster.js';

const namespace = 'javascript-busy';
const patience = 60_000;

// occupied runs something while a node is kept busy by a request whose body does not come.
async function occupied(node, run) {
  const busy = await until(() => occupy(node), 'the node has no room');
  await run();
  busy.destroy();
  await until(() => leases(node).listNamespacedLease({ namespace }).then(() => true, () => false), 'the node has no room again');
}

// occupy sends a request, and returns it once its body is awaited, for then it has the node's place; or undefined when
// somebody else had it.
function occupy(node) {
  const kubeconfig = config(node);
  const busy = request(kubeconfig.getCurrentCluster().server + path(namespace), {
    method: 'POST',
    ca: readFileSync(join(directory, 'ca.crt')),
    headers: {
      'authorization': `Bearer ${kubeconfig.getCurrentUser().token}`,
      'content-type': 'application/json', 'content-length': 2, 'expect': '100-continue',
    },
  });
  return new Promise((resolve) => {
    busy.on('continue', () => resolve(busy));
    busy.on('response', () => busy.destroy());
    busy.on('error', () => {}); // it is destroyed
    busy.on('close', () => resolve(undefined));
    busy.flushHeaders();
  });
}

async function until(call, what) {
  for (const deadline = Date.now() + patience; Date.now() < deadline;) {
    const answer = await call();
    if (answer) return answer;
  }
  assert.fail(what);
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
