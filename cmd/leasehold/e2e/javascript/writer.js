// Writes one Lease, and keeps what a watch must tell of it.

import { lease, leases } from './cluster.js';
import { told } from './seen.js';

export class Writer {
  expected = [];

  constructor(namespace, name) {
    this.where = { namespace, name };
  }

  async create() {
    const { namespace, name } = this.where;
    const created = await leases().createNamespacedLease({ namespace, body: lease(name, { leaseTransitions: 0 }, { labels: { written: name } }) });
    this.expected.push(told('ADDED', created));
    return created.metadata.resourceVersion;
  }

  async renew(times = 1, context) {
    const api = leases(context);
    for (; times > 0; times--) {
      const current = await api.readNamespacedLease(this.where);
      current.spec.leaseTransitions++;
      this.expected.push(told('MODIFIED', await api.replaceNamespacedLease({ ...this.where, body: current })));
    }
  }

  async delete() {
    await leases().deleteNamespacedLease(this.where);
  }
}
