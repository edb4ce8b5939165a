// Clients of the cluster that the test has started, by the version of the client that it wants.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const k8s = await import(process.env.LEASEHOLD_CLIENT);
export const directory = process.env.LEASEHOLD_DEV_DIR;
export const nodes = ['node-1', 'node-2', 'node-3'];
export const balancer = 'cluster';

// config returns a kubeconfig at one of its contexts, with another token or server where one is given.
export function config(context = balancer, { token, server } = {}) {
  const kubeconfig = new k8s.KubeConfig();
  kubeconfig.loadFromFile(join(directory, 'kubeconfig'));
  kubeconfig.setCurrentContext(context);
  const { cluster, user } = kubeconfig.getContextObject(context);
  if (token) kubeconfig.users = [{ name: user, token }];
  if (server) kubeconfig.clusters = [{ ...kubeconfig.getCurrentCluster(), name: cluster, server }];
  return kubeconfig;
}

// leases returns the API of Leases.
export function leases(context, other) {
  return config(context, other).makeApiClient(k8s.CoordinationV1Api);
}

export function lease(name, spec = {}, metadata = {}) {
  return { metadata: { name, ...metadata }, spec };
}

export function path(namespace) {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

// as says what a body is; left to itself the client takes every patch for a JSON patch.
export function as(contentType) {
  return k8s.setHeaderOptions('Content-Type', contentType);
}

// refused awaits what must fail with a code, and returns the Status that came with it.
export async function refused(code, call) {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    assert.equal(error.code, code, error.message);
    const status = JSON.parse(error.body);
    assert.deepEqual([status.kind, status.code], ['Status', code]);
    return status;
  }
  assert.fail(`expected ${code}, got ${JSON.stringify(answer)}`);
}

// restart stops a node in order and starts it again.
export async function restart(node) {
  const number = node.slice('node-'.length);
  await promisify(execFile)(process.env.LEASEHOLD, ['dev', 'restart', number, '--dir', directory]);
}

// userToken is that of a user who may do nothing.
export function userToken() {
  return readFileSync(join(directory, 'user.token'), 'utf8').trim();
}
