// Times as this client writes them, and as a server takes them that is as strict as kube-apiserver.

import assert from 'node:assert/strict';

import { as, k8s, lease, leases, refused } from './cluster.js';

const namespace = 'javascript-times';
const moment = Date.UTC(2024, 1, 29, 12, 30, 15, 123);
const api = leases();

const create = (name, renewTime) => api.createNamespacedLease({ namespace, body: lease(name, { holderIdentity: 'me', renewTime }) });
const refuse = async (name, renewTime) => {
  assert.equal((await refused(400, create(name, renewTime))).reason, 'BadRequest');
  await refused(404, api.readNamespacedLease({ namespace, name }));
};

export default {
  'V1MicroTime is sent with six digits and comes back as text': async () => {
    const created = await create('micro', new k8s.V1MicroTime(moment));
    assert.equal(created.spec.renewTime, '2024-02-29T12:30:15.123000Z');
    assert.ok(created.metadata.creationTimestamp instanceof Date);
  },

  'text of six digits goes to and fro without a change': async () => {
    const created = await create('text', '2024-02-29T12:30:15.123456Z');
    const again = await api.replaceNamespacedLease({ namespace, name: 'text', body: created });
    assert.deepEqual(again, created);
  },

  'V1MicroTime of a time that was read forgets its microseconds': async () => {
    const created = await create('cut', '2024-02-29T12:30:15.123456Z');
    created.spec.renewTime = new k8s.V1MicroTime(created.spec.renewTime);
    const cut = await api.replaceNamespacedLease({ namespace, name: 'cut', body: created });
    assert.equal(cut.spec.renewTime, '2024-02-29T12:30:15.123000Z');
  },

  'Date is sent with three digits and refused 400': () => refuse('date', new Date(moment)),

  'Date of a whole second has three digits all the same': () => refuse('whole', new Date(Date.UTC(2024, 1, 29, 12, 30, 15))),

  'Date in a patch is refused 422': async () => {
    const before = await create('patched', new k8s.V1MicroTime(moment));
    const body = { spec: { renewTime: new Date(moment) } };
    for (const contentType of [k8s.PatchStrategy.MergePatch, k8s.PatchStrategy.StrategicMergePatch]) {
      await refused(422, api.patchNamespacedLease({ namespace, name: 'patched', body }, as(contentType)));
    }
    assert.deepEqual(await api.readNamespacedLease({ namespace, name: 'patched' }), before);
  },

  'text of other clients is refused 400': async () => {
    for (const [number, text] of ['15.123456789Z', '15.1234567Z', '15.1Z', '15Z', '15+02:00'].entries()) {
      await refuse(`text-${number}`, `2024-02-29T12:30:${text}`);
    }
  },
};
