// Informers: a list, a watch, and what they do when the watch ends.

import assert from 'node:assert/strict';

import { balancer, config, k8s, lease, leases, nodes, path, restart } from './cluster.js';
import { outlive } from './history.js';
import { startRelay } from './relay.js';
import { Seen, told } from './seen.js';
import { Writer } from './writer.js';

const namespace = 'javascript-informers';
const verbs = { add: 'ADDED', update: 'MODIFIED', delete: 'DELETED' };

// inform starts an informer that knows all Leases with a label. What it tells goes to seen, what befalls it to fates; one
// that is to run forever is started again after an error, as its users must do.
async function inform(label, kubeconfig, { query = '', forever = false } = {}) {
  const list = () => kubeconfig.makeApiClient(k8s.CoordinationV1Api).listNamespacedLease({ namespace, labelSelector: label });
  const informer = k8s.makeInformer(kubeconfig, path(namespace) + query, list, label);
  const seen = new Seen();
  const fates = new Seen();
  for (const [verb, type] of Object.entries(verbs)) informer.on(verb, (object) => seen.add(told(type, object)));
  informer.on('connect', () => fates.add('connect'));
  informer.on('error', (error) => {
    fates.add(error);
    if (forever && error.name !== 'AbortError') setTimeout(() => informer.start(), 100);
  });
  await informer.start();
  return { informer, seen, fates };
}

export default {
  'knows what is there and follows what happens': async () => {
    const writer = new Writer(namespace, 'followed');
    await writer.create();
    const { informer, seen } = await inform('written=followed', config());
    await writer.renew(3);
    const events = await seen.count(4);
    assert.deepEqual(events, writer.expected);
    assert.equal(informer.get('followed', namespace).spec.leaseTransitions, 3);
    await writer.delete();
    await seen.count(5);
    assert.deepEqual(informer.list(), []);
    await informer.stop();
  },

  'connects again by itself when the server ends the watch': async () => {
    const writer = new Writer(namespace, 'reconnected');
    await writer.create();
    const { informer, seen, fates } = await inform('written=reconnected', config(), { query: '?timeoutSeconds=1' });
    for (let connects = 2; connects <= 4; connects++) {
      await writer.renew(5);
      await fates.count(connects);
    }
    await writer.renew(5);
    assert.deepEqual(await seen.count(21), writer.expected, 'nothing is lost, nothing comes twice');
    assert.deepEqual([...new Set(fates.events)], ['connect']);
    await informer.stop();
  },

  'tells a cut connection, and goes on once it is started again': async () => {
    const relay = await startRelay(nodes[1]);
    const writer = new Writer(namespace, 'severed');
    await writer.create();
    const { informer, seen, fates } = await inform('written=severed', config(nodes[1], { server: relay.url }));
    await writer.renew(2);
    await seen.count(3);
    relay.cut();
    const [, error] = await fates.count(2);
    assert.ok(error instanceof Error);
    await writer.renew(2);
    assert.equal(seen.events.length, 3, 'it does not start by itself');
    await informer.start();
    assert.deepEqual(await seen.count(5), writer.expected, 'nothing is lost, nothing comes twice');
    await informer.stop();
    relay.stop();
  },

  'lists again when its version has expired': async () => {
    const [kept, gone, born] = ['kept', 'gone', 'born'].map((name) => new Writer(namespace, name));
    await kept.create();
    await gone.create();
    const { informer, seen, fates } = await inform('written in (kept,gone,born)', config());
    await seen.count(2);
    await informer.stop();
    const resourceVersion = informer.latestResourceVersion();
    await kept.renew();
    await gone.delete();
    await born.create();
    await outlive(() => leases().listNamespacedLease({ namespace, resourceVersion, resourceVersionMatch: 'Exact' })
      .then(() => undefined, (error) => error.code === 410));
    await informer.start();
    const events = await seen.count(5);
    assert.deepEqual(events.slice(2).map((event) => event.split(' ').slice(0, 2).join(' ')).toSorted(), ['ADDED born', 'DELETED gone', 'MODIFIED kept']);
    assert.deepEqual(informer.list().map((object) => object.metadata.name).toSorted(), ['born', 'kept']);
    const errors = fates.events.filter((fate) => fate !== 'connect');
    assert.deepEqual(errors.map((error) => error.name), ['AbortError'], 'stop itself tells an error, and nothing else does');
    await informer.stop();
  },

  'goes on while every node is restarted': async () => {
    const writer = new Writer(namespace, 'rolling');
    await writer.create();
    const { informer, seen, fates } = await inform('written=rolling', config(balancer), { forever: true });
    for (const node of nodes) {
      await writer.renew(10);
      await restart(node);
      await writer.renew(10, node);
    }
    assert.deepEqual(await seen.count(61), writer.expected, 'nothing is lost, nothing comes twice');
    assert.ok(fates.events.length > 1, 'a restart ended the watch');
    await informer.stop();
  },
};
