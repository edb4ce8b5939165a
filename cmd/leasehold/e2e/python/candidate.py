"""One process that wants to lead, by this client's leader election. It prints a line when it begins to lead, and when it sees another leader."""

import logging
import os
import sys

from kubernetes.leaderelection import electionconfig, leaderelection

from cluster import leases
from lease_lock import LeaseLock


def tell(line):
    """Writes a line at once: the election calls back in a thread of its own, and print can mix two lines."""
    os.write(sys.stdout.fileno(), (line + "\n").encode())


class TellingLock(LeaseLock):
    """A lock that says who holds it whenever somebody else does."""

    holder = None

    def get(self, name, namespace):
        there, record = super().get(name, namespace)
        if there and record.holder_identity != self.holder:
            self.holder = record.holder_identity
            tell("sees " + self.holder)
        return there, record


def main(context, identity, name):
    logging.disable(logging.INFO)  # the election tells of each renewal
    # At its deadline the election still ends its try, of two requests, and waits once more: all that must fit into the duration.
    leaderelection.LeaderElection(electionconfig.Config(
        TellingLock(leases(context, retries=False), name, "elections", identity, patience=2),
        lease_duration=10, renew_deadline=4, retry_period=1,
        onstarted_leading=lambda: tell("leading"),
        onstopped_leading=lambda: tell("lost"),
    )).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
