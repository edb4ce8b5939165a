// Every verb that the client has for Leases, and what it makes of refusals.

import assert from 'node:assert/strict';

import { config, k8s, lease, leases, nodes, refused, userToken } from './cluster.js';

const namespace = 'javascript-verbs';
const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const api = leases();

const create = (name, spec, metadata) => api.createNamespacedLease({ namespace, body: lease(name, spec, metadata) });
const read = (name) => api.readNamespacedLease({ namespace, name });
const replace = (body) => api.replaceNamespacedLease({ namespace, name: body.metadata.name, body });

async function unchangedBy(name, call) {
  const before = await read(name);
  const answer = await call();
  assert.deepEqual(await read(name), before);
  return answer;
}

export default {
  'creates and reads at every node': async () => {
    const created = await create('created', { holderIdentity: 'me', leaseDurationSeconds: 15 }, { labels: { app: 'x' } });
    assert.deepEqual([created.apiVersion, created.kind], ['coordination.k8s.io/v1', 'Lease']);
    const manager = process.env.LEASEHOLD_CLIENT === 'client-node-1' ? 'node-fetch' : 'kubernetes-client-javascript';
    assert.equal(created.metadata.managedFields[0].manager, manager);
    for (const node of nodes) {
      assert.deepEqual(await leases(node).readNamespacedLease({ namespace, name: 'created' }), created, node);
    }
  },

  'replaces with what it has read': async () => {
    const current = await create('replaced', { holderIdentity: 'me', renewTime: '2024-02-29T12:30:15.123456Z' });
    assert.deepEqual(await replace(current), current, 'no change');
    current.spec.holderIdentity = 'you';
    const replaced = await replace(current);
    assert.equal(replaced.spec.holderIdentity, 'you');
    assert.ok(Number(replaced.metadata.resourceVersion) > Number(current.metadata.resourceVersion));
  },

  'replace of a missing name creates': async () => {
    assert.equal((await replace(lease('put', { holderIdentity: 'me' }))).spec.holderIdentity, 'me');
  },

  'stale replace is a conflict': async () => {
    const stale = await create('stale', { holderIdentity: 'me' });
    await replace({ ...stale, spec: { holderIdentity: 'you' } });
    const status = await unchangedBy('stale', () => refused(409, replace(stale)));
    assert.equal(status.reason, 'Conflict');
  },

  'replace without a version is invalid': async () => {
    await create('versionless', { holderIdentity: 'me' });
    const status = await unchangedBy('versionless', () => refused(422, replace(lease('versionless', { holderIdentity: 'you' }))));
    assert.equal(status.details.causes[0].field, 'metadata.resourceVersion');
  },

  'release with no duration is invalid and with one second it is not': async () => {
    const current = await create('released', { holderIdentity: 'me', leaseDurationSeconds: 15 });
    for (const leaseDurationSeconds of [0, -1]) {
      const released = { ...current, spec: { holderIdentity: '', leaseDurationSeconds } };
      const status = await unchangedBy('released', () => refused(422, replace(released)));
      assert.equal(status.details.causes[0].field, 'spec.leaseDurationSeconds');
    }
    const released = await replace({ ...current, spec: { holderIdentity: '', leaseDurationSeconds: 1 } });
    assert.equal(released.spec.holderIdentity, '');
  },

  'renewals through all nodes change only the time and the version': async () => {
    const first = await create('renewed', { holderIdentity: 'me', leaseTransitions: 3, renewTime: '2024-02-29T12:30:15.000000Z' });
    let current = first;
    for (let turn = 1; turn <= 60; turn++) {
      const renewTime = new k8s.V1MicroTime(Date.UTC(2024, 1, 29, 12, 30, 15 + turn));
      const body = { ...current, spec: { ...current.spec, renewTime } };
      current = await leases(nodes[turn % 3]).replaceNamespacedLease({ namespace, name: 'renewed', body });
    }
    assert.equal(current.spec.renewTime, '2024-02-29T12:31:15.000000Z');
    assert.ok(Number(current.metadata.resourceVersion) >= Number(first.metadata.resourceVersion) + 60);
    for (const one of [current, first]) {
      delete one.spec.renewTime;
      delete one.metadata.resourceVersion;
      delete one.metadata.managedFields; // with the time of the renewal
    }
    assert.deepEqual(current, first);
  },

  'deletes': async () => {
    const { metadata: { uid } } = await create('deleted');
    await refused(409, api.deleteNamespacedLease({ namespace, name: 'deleted', body: { preconditions: { uid: 'another' } } }));
    const status = await api.deleteNamespacedLease({ namespace, name: 'deleted', body: { preconditions: { uid } } });
    assert.deepEqual([status.status, status.details.uid], ['Success', uid]);
    assert.equal((await refused(404, api.deleteNamespacedLease({ namespace, name: 'deleted' }))).reason, 'NotFound');
  },

  'delete that waits for a finalizer is answered by a Status without a status': async () => {
    await create('finalized', {}, { finalizers: ['example.com/wait'] });
    const answer = await api.deleteNamespacedLease({ namespace, name: 'finalized' });
    assert.deepEqual([answer.constructor.name, answer.kind, answer.status], ['V1Status', 'Lease', undefined]);
    const marked = await read('finalized');
    assert.ok(marked.metadata.deletionTimestamp instanceof Date);
    delete marked.metadata.finalizers;
    await replace(marked);
    await refused(404, read('finalized'));
  },

  'delete of a collection is answered by a Status of kind LeaseList': async () => {
    for (const name of ['collected-1', 'collected-2']) await create(name, {}, { labels: { collect: 'me' } });
    const answer = await api.deleteCollectionNamespacedLease({ namespace, labelSelector: 'collect=me' });
    assert.deepEqual([answer.constructor.name, answer.kind], ['V1Status', 'LeaseList']);
    assert.deepEqual((await api.listNamespacedLease({ namespace, labelSelector: 'collect=me' })).items, []);
    assert.ok((await api.listNamespacedLease({ namespace })).items.length > 0, 'others stay');
  },

  'lists by selectors': async () => {
    await create('listed-a', {}, { labels: { listed: 'one' } });
    await create('listed-b', {}, { labels: { listed: 'two' } });
    const names = async (query) => (await api.listNamespacedLease({ namespace, ...query })).items.map((item) => item.metadata.name);
    assert.deepEqual(await names({ labelSelector: 'listed' }), ['listed-a', 'listed-b']);
    assert.deepEqual(await names({ labelSelector: 'listed notin (one)', fieldSelector: 'metadata.name!=created,metadata.name=listed-b' }), ['listed-b']);
    const everywhere = await api.listLeaseForAllNamespaces({ labelSelector: 'listed' });
    assert.deepEqual(everywhere.items.map((item) => item.metadata.namespace), [namespace, namespace]);
  },

  'dry run writes nothing': async () => {
    const dry = await api.createNamespacedLease({ namespace, body: lease('dry'), dryRun: 'All' });
    assert.ok(dry.metadata.uid);
    assert.equal(dry.metadata.resourceVersion, undefined);
    await refused(404, read('dry'));
  },

  'strict field validation refuses what the client passes on': async () => {
    const body = { ...lease('unknown', { holderIdentity: 'me' }, { labels: { 'a': 'b' } }), spec: { preferredHolder: 'you' } };
    const status = await refused(422, api.createNamespacedLease({ namespace, body, fieldValidation: 'Strict' }));
    assert.equal(status.details.causes[0].field, 'spec.preferredHolder');
    const created = await api.createNamespacedLease({
      namespace, body: { ...lease('unknown'), spec: { holder: 'me' } }, fieldValidation: 'Strict' });
    assert.deepEqual({ ...created.spec }, {}, 'the client itself drops fields that its models do not have');
  },

  'unknown token is an ApiException 401 without a body': async () => {
    const call = leases(undefined, { token: 'nobody' }).listNamespacedLease({ namespace });
    await assert.rejects(call, { constructor: k8s.ApiException, code: 401, body: undefined });
  },

  'user without rights is an ApiException 403': async () => {
    const call = leases(undefined, { token: userToken() }).createNamespacedLease({ namespace, body: lease('forbidden') });
    assert.equal((await refused(403, call)).reason, 'Forbidden');
    await refused(404, read('forbidden'));
  },

  'objects of any kind are found by discovery': async () => {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config());
    const name = 'object';
    const created = await objects.create({ ...kind, ...lease(name, { holderIdentity: 'me' }, { namespace }) });
    assert.equal(created.constructor.name, 'V1Lease');
    const patched = await objects.patch({ ...kind, ...lease(name, { leaseTransitions: 1 }, { namespace }) });
    assert.deepEqual({ ...patched.spec }, { holderIdentity: 'me', leaseTransitions: 1 });
    assert.deepEqual(await objects.read({ ...kind, metadata: { name, namespace } }), patched);
    assert.deepEqual((await objects.list(kind.apiVersion, kind.kind, namespace, undefined, undefined, undefined, 'metadata.name=object')).items.length, 1);
    assert.equal((await objects.delete({ ...kind, metadata: { name, namespace } })).status, 'Success');
  },

  'lists the namespaces in use': async () => {
    await leases().createNamespacedLease({ namespace: 'javascript-namespace', body: lease('one') });
    const { items } = await config().makeApiClient(k8s.CoreV1Api).listNamespace();
    const names = items.map((item) => item.metadata.name);
    assert.ok(names.includes('javascript-namespace') && !names.includes('javascript-unused'), names);
  },

  'asks who it is and what it may do': async () => {
    const resourceAttributes = { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', namespace };
    for (const [token, username, allowed] of [[undefined, 'admin', true], [userToken(), 'plain-user', false]]) {
      const kubeconfig = config(undefined, { token });
      const { status: { userInfo } } = await kubeconfig.makeApiClient(k8s.AuthenticationV1Api).createSelfSubjectReview({ body: {} });
      assert.equal(userInfo.username, username);
      const { status } = await kubeconfig.makeApiClient(k8s.AuthorizationV1Api)
        .createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
      assert.equal(status.allowed, allowed);
    }
  },

  'asks for version and health': async () => {
    assert.equal((await config().makeApiClient(k8s.VersionApi).getCode()).gitVersion, 'v1.37.2');
    for (const node of nodes) {
      const health = new k8s.Health(config(node));
      assert.deepEqual([await health.readyz({}), await health.livez({})], [true, true]);
    }
  },
};
