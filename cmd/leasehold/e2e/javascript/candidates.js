// LeaseCandidates, in both versions that are served.

import assert from 'node:assert/strict';

import { as, config, k8s, nodes, refused } from './cluster.js';

const namespace = 'javascript-candidates';
const beta = config().makeApiClient(k8s.CoordinationV1beta1Api);
const alpha = config(nodes[1]).makeApiClient(k8s.CoordinationV1alpha2Api);

const body = (name, spec) => ({
  metadata: { name, labels: { app: 'x' } },
  spec: { leaseName: 'lock', binaryVersion: '1.37.0', emulationVersion: '1.37.0', strategy: 'OldestEmulationVersion', ...spec },
});

export default {
  'are the same in both versions': async () => {
    const created = await beta.createNamespacedLeaseCandidate({ namespace, body: body('one', { renewTime: new k8s.V1MicroTime(0) }) });
    assert.deepEqual([created.apiVersion, created.kind], ['coordination.k8s.io/v1beta1', 'LeaseCandidate']);
    const read = await alpha.readNamespacedLeaseCandidate({ namespace, name: 'one' });
    assert.equal(read.apiVersion, 'coordination.k8s.io/v1alpha2');
    assert.deepEqual({ ...read.spec }, { ...created.spec });
    assert.deepEqual([read.metadata.uid, read.metadata.resourceVersion], [created.metadata.uid, created.metadata.resourceVersion]);
  },

  'are patched, listed and deleted': async () => {
    await alpha.createNamespacedLeaseCandidate({ namespace, body: body('two') });
    const pinged = await beta.patchNamespacedLeaseCandidate(
      { namespace, name: 'two', body: { spec: { pingTime: new k8s.V1MicroTime(0) } } }, as(k8s.PatchStrategy.MergePatch));
    assert.equal(pinged.spec.pingTime, '1970-01-01T00:00:00.000000Z');
    const { items } = await alpha.listNamespacedLeaseCandidate({ namespace, fieldSelector: 'metadata.name=two' });
    assert.deepEqual(items.map((item) => item.metadata.name), ['two']);
    assert.equal((await alpha.deleteNamespacedLeaseCandidate({ namespace, name: 'two' })).status, 'Success');
  },

  'are refused without what they need': async () => {
    const status = await refused(422, beta.createNamespacedLeaseCandidate({ namespace, body: body('bad', { leaseName: '', binaryVersion: 'x' }) }));
    const fields = status.details.causes.map((cause) => cause.field);
    assert.ok(fields.includes('spec.leaseName') && fields.includes('spec.binaryVersion'), fields);
  },
};
