// Patches of each kind, as this client sends them.

import assert from 'node:assert/strict';

import { as, k8s, lease, leases, nodes, refused } from './cluster.js';

const namespace = 'javascript-patches';
const { JsonPatch, MergePatch, StrategicMergePatch, ServerSideApply } = k8s.PatchStrategy;
const api = leases();

const create = (name, spec) =>
  api.createNamespacedLease({ namespace, body: lease(name, spec, { labels: { keep: 'me' }, finalizers: ['example.com/one'] }) });
const read = (name) => api.readNamespacedLease({ namespace, name });
const patch = (name, body, contentType, query) =>
  api.patchNamespacedLease({ namespace, name, body, ...query }, contentType && as(contentType));

// twoAtOnce sends a patch that rests on one version twice at the same time, each to another node, round after round.
async function twoAtOnce(name, contentType, body, expected) {
  let current = await create(name, { holderIdentity: 'nobody' });
  for (let turn = 0; turn < 10; turn++) {
    const { resourceVersion } = current.metadata;
    const outcomes = await Promise.allSettled(nodes.slice(0, 2).map((node) => leases(node).patchNamespacedLease(
      { namespace, name, body: body(`${turn}-${node}`, resourceVersion) }, as(contentType))));
    const codes = outcomes.map((outcome) => outcome.reason?.code ?? 200);
    assert.deepEqual(codes.toSorted(), expected, `turn ${turn}`);
    current = await read(name);
    assert.deepEqual(outcomes[codes.indexOf(200)].value, current, 'whoever was answered 200 holds it');
  }
}

const merged = (holderIdentity, resourceVersion) => ({ metadata: { resourceVersion }, spec: { holderIdentity } });

export default {
  'patch is a JSON patch unless something else is said': async () => {
    await create('json', { holderIdentity: 'me' });
    const patched = await patch('json', [
      { op: 'test', path: '/spec/holderIdentity', value: 'me' },
      { op: 'replace', path: '/spec/holderIdentity', value: 'you' },
      { op: 'remove', path: '/metadata/labels/keep' },
    ]);
    assert.equal(patched.spec.holderIdentity, 'you');
    assert.equal(patched.metadata.labels, undefined);
    assert.equal((await refused(400, patch('json', { spec: { holderIdentity: 'me' } }))).reason, 'BadRequest');
  },

  'JSON patch whose test fails changes nothing': async () => {
    const before = await create('tested', { holderIdentity: 'me' });
    await refused(422, patch('tested', [
      { op: 'replace', path: '/spec/holderIdentity', value: 'you' }, { op: 'test', path: '/spec/holderIdentity', value: 'me' }]));
    assert.deepEqual(await read('tested'), before);
  },

  'merge patch replaces lists': async () => {
    await create('merge', { holderIdentity: 'me', leaseTransitions: 1 });
    const patched = await patch('merge',
      { metadata: { finalizers: ['example.com/two'], labels: null }, spec: { holderIdentity: 'you' } }, MergePatch);
    assert.deepEqual({ ...patched.spec }, { holderIdentity: 'you', leaseTransitions: 1 });
    assert.deepEqual([patched.metadata.finalizers, patched.metadata.labels], [['example.com/two'], undefined]);
  },

  'strategic merge patch merges finalizers': async () => {
    await create('strategic', { holderIdentity: 'me', leaseTransitions: 1 });
    const patched = await patch('strategic',
      { metadata: { finalizers: ['example.com/two'] }, spec: { holderIdentity: 'you', leaseTransitions: null } }, StrategicMergePatch);
    assert.deepEqual({ ...patched.spec }, { holderIdentity: 'you' });
    assert.deepEqual(patched.metadata.finalizers.toSorted(), ['example.com/one', 'example.com/two']);
  },

  'apply takes an object, conflicts, and can be forced': async () => {
    const applied = (holderIdentity) =>
      ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'apply' }, spec: { holderIdentity } });
    const first = await patch('apply', applied('me'), ServerSideApply, { fieldManager: 'one' });
    assert.deepEqual(await patch('apply', applied('me'), ServerSideApply, { fieldManager: 'one' }), first, 'the same again is no change');
    const conflict = await refused(409, patch('apply', applied('you'), ServerSideApply, { fieldManager: 'two' }));
    assert.deepEqual(conflict.details.causes.map((cause) => cause.field), ['.spec.holderIdentity']);
    const forced = await patch('apply', applied('you'), ServerSideApply, { fieldManager: 'two', force: true });
    assert.equal(forced.spec.holderIdentity, 'you');
    assert.deepEqual(forced.metadata.managedFields.map((entry) => [entry.manager, entry.operation]), [['two', 'Apply']]);
  },

  'patch that changes nothing is no change': async () => {
    const before = await create('same', { holderIdentity: 'me' });
    assert.deepEqual(await patch('same', { spec: { holderIdentity: 'me' } }, MergePatch), before);
    assert.deepEqual(await patch('same', {}, StrategicMergePatch), before);
    assert.deepEqual(await patch('same', []), before);
  },

  'other content type is refused 415': async () => {
    const before = await create('typed', { holderIdentity: 'me' });
    await refused(415, patch('typed', { spec: { holderIdentity: 'you' } }, 'application/json'));
    assert.deepEqual(await read('typed'), before);
  },

  'of two merge patches of one version one is a conflict': () => twoAtOnce('two-merge', MergePatch, merged, [200, 409]),

  'of two strategic merge patches of one version one is a conflict': () =>
    twoAtOnce('two-strategic', StrategicMergePatch, merged, [200, 409]),

  'of two JSON patches that set one version one is a conflict': () => twoAtOnce('two-json', JsonPatch, (holder, version) => [
    { op: 'replace', path: '/metadata/resourceVersion', value: version },
    { op: 'replace', path: '/spec/holderIdentity', value: holder },
  ], [200, 409]),

  'of two JSON patches that test one version one is invalid': () => twoAtOnce('two-tests', JsonPatch, (holder, version) => [
    { op: 'test', path: '/metadata/resourceVersion', value: version },
    { op: 'replace', path: '/spec/holderIdentity', value: holder },
  ], [200, 422]),
};
