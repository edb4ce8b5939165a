// Times as this client writes them, and as a server takes them that was told to be lenient.

import assert from 'node:assert/strict';

import { as, k8s, lease, leases, refused } from './cluster.js';

const namespace = `lenient-${process.env.LEASEHOLD_CLIENT}`;
const moment = Date.UTC(2024, 1, 29, 12, 30, 15, 123);
const api = leases();

const create = (name, renewTime) => api.createNamespacedLease({ namespace, body: lease(name, { holderIdentity: 'me', renewTime }) });

export default {
  'Date is taken': async () => {
    const created = await create('date', new Date(moment));
    assert.equal(created.spec.renewTime, '2024-02-29T12:30:15.123000Z');
    created.spec.renewTime = new Date(moment + 1);
    const replaced = await api.replaceNamespacedLease({ namespace, name: 'date', body: created });
    assert.equal(replaced.spec.renewTime, '2024-02-29T12:30:15.124000Z');
  },

  'Date that is the same instant is no change': async () => {
    const created = await create('same', new k8s.V1MicroTime(moment));
    const body = { ...created, spec: { ...created.spec, renewTime: new Date(moment) } };
    assert.deepEqual(await api.replaceNamespacedLease({ namespace, name: 'same', body }), created);
  },

  'Date is taken by each patch': async () => {
    await create('patched', new Date(moment));
    const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'patched' } };
    const { MergePatch, StrategicMergePatch, ServerSideApply } = k8s.PatchStrategy;
    for (const [second, contentType] of [[16, MergePatch], [17, StrategicMergePatch], [18, ServerSideApply]]) {
      const body = { ...kind, spec: { renewTime: new Date(Date.UTC(2024, 1, 29, 12, 30, second, 5)) } };
      const patched = await api.patchNamespacedLease({ namespace, name: 'patched', body, fieldManager: 'me', force: second === 18 || undefined }, as(contentType));
      assert.equal(patched.spec.renewTime, `2024-02-29T12:30:${second}.005000Z`);
    }
    const operation = { op: 'replace', path: '/spec/renewTime', value: new Date(moment) };
    const patched = await api.patchNamespacedLease({ namespace, name: 'patched', body: [operation] });
    assert.equal(patched.spec.renewTime, '2024-02-29T12:30:15.123000Z');
  },

  'text of other clients is cut to microseconds': async () => {
    for (const [number, [text, expected]] of [
      ['15.123456789Z', '15.123456Z'], ['15.1234567Z', '15.123456Z'], ['15.1Z', '15.100000Z'], ['15Z', '15.000000Z'],
    ].entries()) {
      const created = await create(`text-${number}`, `2024-02-29T12:30:${text}`);
      assert.equal(created.spec.renewTime, `2024-02-29T12:30:${expected}`);
    }
  },

  'more digits than nanoseconds have are refused 400': () => refused(400, create('digits', '2024-02-29T12:30:15.1234567891Z')),
};
