"""Requests and answers that get lost, and what this client sends again by itself."""

import contextlib
import http.client
import json
import os
import ssl
import urllib.parse

import urllib3
from kubernetes.client.rest import ApiException

from checks import check, equal, refused
from cluster import DIRECTORY, NODES, connect, lease, leases
from lossy import relay

NAMESPACE = "python-drops"

api = leases()


def lossy(server):
    """Returns the API at a relay."""
    door = leases(NODES[0])
    door.api_client.configuration.host = server.url()
    return door


def renewal(current, holder):
    wanted = lease(current.metadata.name, holder_identity=holder)
    wanted.metadata.resource_version = current.metadata.resource_version
    return wanted


@check
def replace_whose_answer_is_lost_is_sent_again_and_then_taken_for_a_conflict():
    current = api.create_namespaced_lease(NAMESPACE, lease("replaced", holder_identity="nobody"))
    with relay(NODES[0]) as server:
        server.lose = 1
        refused(409, lossy(server).replace_namespaced_lease, "replaced", NAMESPACE, renewal(current, "me"))
        equal(2, server.passed, "requests")
    equal("me", api.read_namespaced_lease("replaced", NAMESPACE).spec.holder_identity, "the first was done")


@check
def create_and_patch_whose_answer_is_lost_are_not_sent_again():
    with relay(NODES[0]) as server:
        door = lossy(server)
        for call in (
                lambda: door.create_namespaced_lease(NAMESPACE, lease("once", holder_identity="me", lease_transitions=1)),
                lambda: door.patch_namespaced_lease("once", NAMESPACE, {"spec": {"leaseTransitions": 2}})):
            server.lose = 1
            try:
                call()
                raise AssertionError("an error was expected")
            except urllib3.exceptions.ProtocolError:
                pass
        equal(2, server.passed, "requests")
    equal(2, api.read_namespaced_lease("once", NAMESPACE).spec.lease_transitions, "both were done")


@check
def replace_whose_answer_is_not_awaited_is_done_whole_or_not_at_all():
    door = leases(NODES[0], retries=False)
    in_vain = lambda turn, wanted: door.replace_namespaced_lease(
        "hurried", NAMESPACE, wanted, _request_timeout=(60, 0.0002 * (turn % 20 + 1)))
    interrupt("hurried", in_vain)


@check
def replace_that_ends_in_the_middle_of_its_body_is_not_done():
    whole = api.create_namespaced_lease(NAMESPACE, lease("whole", holder_identity="nobody"))
    equal(200, put(renewal(whole, "me"), without=0), "the request is right but for its length")
    equal(0, interrupt("halved", lambda _, wanted: put(wanted, without=1)), "were done")


def put(wanted, without):
    """Sends a replace without its last bytes, and returns the code of the answer if there can be one."""
    shared = connect(NODES[0])
    body = json.dumps(shared.sanitize_for_serialization(wanted)).encode()
    trust = ssl.create_default_context(cafile=os.path.join(DIRECTORY, "ca.crt"))
    with contextlib.closing(http.client.HTTPSConnection(urllib.parse.urlsplit(shared.configuration.host).netloc, context=trust)) as connection:
        connection.putrequest("PUT", "/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s" % (NAMESPACE, wanted.metadata.name))
        for name, value in {**shared.configuration.api_key, "content-type": "application/json", "content-length": len(body)}.items():
            connection.putheader(name, value)
        connection.endheaders(body[:len(body) - without])
        return None if without else connection.getresponse().status


def interrupt(name, attempt):
    """Lets a write be interrupted, and then writes over the same version, again and again. Returns how often the first was done."""
    done = 0
    current = api.create_namespaced_lease(NAMESPACE, lease(name, holder_identity="nobody"))
    for turn in range(200):
        wanted, other = renewal(current, "first-%d" % turn), renewal(current, "second-%d" % turn)
        try:
            attempt(turn, wanted)
        except urllib3.exceptions.HTTPError:
            pass
        try:
            current, winner = api.replace_namespaced_lease(name, NAMESPACE, other), other
        except ApiException as refusal:
            equal(409, refusal.status)
            current, winner = api.read_namespaced_lease(name, NAMESPACE), wanted
            done += 1
        equal(winner.spec, current.spec, "turn %d" % turn)
    equal(current, api.read_namespaced_lease(name, NAMESPACE), "nothing is done later")
    return done
