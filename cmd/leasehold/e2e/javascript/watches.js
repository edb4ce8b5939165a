// Watches, how they end, and how one goes on where another has ended.

import assert from 'node:assert/strict';

import { config, k8s, leases, nodes, path } from './cluster.js';
import { outlive } from './history.js';
import { startRelay } from './relay.js';
import { Seen, told } from './seen.js';
import { Writer } from './writer.js';

const namespace = 'javascript-watches';

const now = async () => (await leases().listNamespacedLease({ namespace })).metadata.resourceVersion;

// follow watches, and tells what came, how to abort it, and with what it ended.
async function follow(kubeconfig, query) {
  const seen = new Seen();
  let request;
  const ended = new Promise((resolve) => {
    const each = (type, object) => seen.add(object.kind === 'Lease' && object.metadata.name ? told(type, object) : { type, object });
    request = new k8s.Watch(kubeconfig).watch(path(namespace), query, each, resolve);
  });
  return { seen, ended, abort: (await request).abort.bind(await request) };
}

export default {
  'tells what is there and then what happens': async () => {
    const writer = new Writer(namespace, 'told');
    await writer.create();
    const { seen, abort, ended } = await follow(config(), { labelSelector: 'written=told' });
    await seen.count(1);
    await writer.renew(2);
    await seen.count(3);
    await writer.delete();
    const events = await seen.count(4);
    assert.deepEqual(events.slice(0, 3), writer.expected);
    assert.match(events[3], /^DELETED told /);
    abort();
    assert.equal((await ended).name, 'AbortError');
  },

  'resumes at another node from the last version that it saw': async () => {
    const writer = new Writer(namespace, 'resumed');
    const all = [];
    let resourceVersion = await now();
    await writer.create();
    for (let turn = 0; turn < 6; turn++) {
      await writer.renew(3);
      const { seen, abort, ended } = await follow(config(nodes[turn % 3]), { resourceVersion, labelSelector: 'written=resumed' });
      all.push(...(await seen.count(2)).slice(0, 2));
      abort();
      await ended;
      resourceVersion = all.at(-1).split(' ')[2];
    }
    assert.deepEqual(all, writer.expected.slice(0, 12), 'nothing is lost, nothing comes twice');
  },

  'ends without an error after timeoutSeconds': async () => {
    const writer = new Writer(namespace, 'timed');
    const resourceVersion = await now();
    await writer.create();
    const { seen, ended } = await follow(config(), { resourceVersion, timeoutSeconds: 1 });
    assert.equal(await ended, null);
    assert.deepEqual(seen.events, writer.expected);
  },

  'bookmarks come when they are asked for': async () => {
    const { seen, abort } = await follow(config(), { resourceVersion: await now(), allowWatchBookmarks: true, timeoutSeconds: 5 });
    const [{ type, object }] = await seen.count(1);
    assert.deepEqual([type, object.kind], ['BOOKMARK', 'Lease']);
    abort();
  },

  'expired version is an event and no error': async () => {
    const resourceVersion = await now();
    const { type, object } = await outlive(async () => {
      const { seen, ended } = await follow(config(), { resourceVersion, labelSelector: 'written=nobody', timeoutSeconds: 1 });
      assert.equal(await ended, null);
      return seen.events[0];
    });
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired']);
  },

  'refusal before the watch is an error with a code': async () => {
    const { ended } = await follow(config(undefined, { token: 'nobody' }), {});
    assert.equal((await ended).statusCode, 401);
  },

  'connection that is cut ends it with an error': async () => {
    const relay = await startRelay(nodes[0]);
    const writer = new Writer(namespace, 'cut');
    const { seen, ended } = await follow(config(nodes[0], { server: relay.url }), { resourceVersion: await now() });
    await writer.create();
    await seen.count(1);
    relay.cut();
    assert.ok(await ended instanceof Error);
    relay.stop();
  },
};
