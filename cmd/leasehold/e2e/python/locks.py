"""The lock that is a Lease, without an election around it."""

import json

from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord

from checks import check, equal, true
from cluster import NODES, leases
from lease_lock import LeaseLock
from lossy import relay

NAMESPACE = "python-locks"


def lock(name, identity):
    return LeaseLock(leases(retries=False), name, NAMESPACE, identity, patience=60)


def record(identity, at="2024-02-29 12:30:15.500000"):
    return LeaderElectionRecord(identity, "10", at, at)


@check
def missing_lock_is_told_by_an_exception_with_the_code_404():
    there, refusal = lock("missing", "one").get("missing", NAMESPACE)
    equal((False, 404), (there, json.loads(refusal.body)["code"]))


@check
def node_that_does_not_answer_is_told_by_an_exception_with_the_code_0():
    lost = lock("lost", "one")
    with relay(NODES[0]) as server:
        lost.api.api_client.configuration.host = server.url()
        server.lose = 2
        there, refusal = lost.get("lost", NAMESPACE)
        equal((False, 0), (there, json.loads(refusal.body)["code"]))
        equal(False, lost.create("lost", NAMESPACE, record("one")))
        equal(2, server.passed, "requests")
    true(lost.get("lost", NAMESPACE)[0] is False, "the relay is gone")


@check
def record_is_read_as_it_was_written():
    one = lock("record", "one")
    for time in ("2024-02-29 12:30:15.500000", "2024-02-29 12:30:15"):
        one.get("record", NAMESPACE)
        written = record("one", time)
        written.lease_duration = 10
        true((one.update if one.current else one.create)("record", NAMESPACE, written), "written, whole seconds too")
        equal(written.__dict__, one.get("record", NAMESPACE)[1].__dict__)


@check
def of_two_that_have_read_one_version_one_takes_the_lock():
    one, two = lock("contended", "one"), lock("contended", "two")
    true(one.create("contended", NAMESPACE, record("nobody")), "created")
    true(not two.create("contended", NAMESPACE, record("two")), "created twice")
    one.get("contended", NAMESPACE)
    two.get("contended", NAMESPACE)
    true(two.update("contended", NAMESPACE, record("two")), "taken")
    true(not one.update("contended", NAMESPACE, record("one")), "taken twice")
    one.get("contended", NAMESPACE)
    equal(("two", 1), (one.current.spec.holder_identity, one.current.spec.lease_transitions))
