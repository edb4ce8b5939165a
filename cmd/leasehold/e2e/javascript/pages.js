// Lists in pages, each asked of another node, while somebody writes; and tokens that have expired.

import assert from 'node:assert/strict';

import { lease, leases, nodes, refused } from './cluster.js';
import { outlive } from './history.js';

const namespace = 'javascript-pages';
const total = 25;
const limit = 10;
const api = leases();

const names = (list) => list.items.map((item) => item.metadata.name);

async function fill() {
  if ((await api.listNamespacedLease({ namespace, limit: 1 })).items.length > 0) return;
  for (let number = 10; number < 10 + total; number++) {
    await api.createNamespacedLease({ namespace, body: lease(`lease-${number}`, {}, { labels: { paged: 'yes' } }) });
  }
}

// pages lists from a token on, each page at the next node. Between pages it calls meanwhile with the names seen so far.
async function pages(token, meanwhile = async () => {}) {
  const found = [];
  for (let turn = 0, seen = []; turn === 0 || token; turn++) {
    const page = await leases(nodes[turn % 3]).listNamespacedLease({ namespace, limit, _continue: token });
    found.push(page);
    seen = seen.concat(names(page));
    token = page.metadata._continue;
    if (token) await meanwhile(seen);
  }
  return found;
}

export default {
  'pages from all nodes are of one version while somebody writes': async () => {
    await fill();
    const whole = names(await api.listNamespacedLease({ namespace }));
    const found = await pages(undefined, async (seen) => {
      await api.createNamespacedLease({ namespace, body: lease(`${seen.at(-1)}-more`) });
      await api.deleteNamespacedLease({ namespace, name: seen.at(-1) });
    });
    assert.deepEqual(found.flatMap(names), whole);
    assert.equal(new Set(found.map((page) => page.metadata.resourceVersion)).size, 1);
    assert.deepEqual(found.map((page) => page.metadata.remainingItemCount), [15, 5, undefined]);
  },

  'remaining count is left out under a selector': async () => {
    await fill();
    const page = await api.listNamespacedLease({ namespace, limit, labelSelector: 'paged=yes' });
    assert.deepEqual([page.items.length, page.metadata.remainingItemCount], [limit, undefined]);
    assert.ok(page.metadata._continue);
  },

  'garbage for a token is refused 400': () => refused(400, api.listNamespacedLease({ namespace, limit, _continue: 'garbage' })),

  'expired token is an ApiException 410 with a token that goes on': async () => {
    await fill();
    const whole = names(await api.listNamespacedLease({ namespace }));
    const first = await api.listNamespacedLease({ namespace, limit });
    await api.deleteNamespacedLease({ namespace, name: whole.at(-1) });
    const ask = () => api.listNamespacedLease({ namespace, limit, _continue: first.metadata._continue });
    const status = await outlive(() => ask().then(() => undefined, () => refused(410, ask())));
    assert.equal(status.reason, 'Expired');
    const rest = await pages(status.metadata.continue);
    assert.deepEqual(rest.flatMap(names), whole.slice(limit, -1), 'the rest, as it is now');
  },
};
