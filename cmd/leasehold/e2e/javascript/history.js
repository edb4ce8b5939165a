// Pushes out what the cluster remembers. Its test starts it with the shortest history in bytes that there is.

import assert from 'node:assert/strict';

import { lease, leases } from './cluster.js';

const namespace = 'javascript-history';
const patience = 60_000;

// outlive writes until gone resolves to something, which it returns.
export async function outlive(gone) {
  const api = leases();
  let ballast = await api.createNamespacedLease({ namespace, body: lease('ballast') });
  for (const deadline = Date.now() + patience; Date.now() < deadline;) {
    for (const letter of 'abcdef') {
      const body = { ...ballast, metadata: { ...ballast.metadata, annotations: { ballast: letter.repeat(200_000) } } };
      ballast = await api.replaceNamespacedLease({ namespace, name: 'ballast', body });
    }
    const found = await gone();
    if (found) {
      await api.deleteNamespacedLease({ namespace, name: 'ballast' });
      return found;
    }
  }
  assert.fail('nothing expires');
}
