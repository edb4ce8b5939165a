"""Patches of each kind, as this client sends them."""

import concurrent.futures
import datetime
import json

from kubernetes.client.rest import ApiException

from checks import check, equal, refused, true
from cluster import NODES, lease, leases

NAMESPACE = "python-patches"
JSON, MERGE, STRATEGIC, APPLY = (
    "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml")

api = leases()
merging = leases(content_type=MERGE)
applying = leases(content_type=APPLY)


def created(name, **spec):
    return api.create_namespaced_lease(NAMESPACE, lease(name, labels={"keep": "me"}, finalizers=["example.com/one"], **spec))


@check
def list_is_sent_as_json_patch():
    created("json", holder_identity="me")
    patched = api.patch_namespaced_lease("json", NAMESPACE, [
        {"op": "test", "path": "/spec/holderIdentity", "value": "me"},
        {"op": "replace", "path": "/spec/holderIdentity", "value": "you"},
        {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/two"},
        {"op": "remove", "path": "/metadata/labels/keep"},
    ])
    equal("you", patched.spec.holder_identity)
    equal(["example.com/one", "example.com/two"], patched.metadata.finalizers)
    equal(None, patched.metadata.labels)


@check
def json_patch_whose_test_fails_changes_nothing():
    before = created("tested", holder_identity="me")
    status = refused(422, api.patch_namespaced_lease, "tested", NAMESPACE, [
        {"op": "replace", "path": "/spec/holderIdentity", "value": "you"},
        {"op": "test", "path": "/spec/leaseTransitions", "value": 7},
    ])
    equal("Invalid", status["reason"])
    equal(before, api.read_namespaced_lease("tested", NAMESPACE))


@check
def dictionary_is_sent_as_strategic_merge_patch():
    created("strategic", holder_identity="me", lease_transitions=1)
    patched = api.patch_namespaced_lease("strategic", NAMESPACE, {
        "metadata": {"finalizers": ["example.com/two"]}, "spec": {"holderIdentity": "you", "leaseTransitions": None}})
    equal(("you", None), (patched.spec.holder_identity, patched.spec.lease_transitions))
    equal({"example.com/one", "example.com/two"}, set(patched.metadata.finalizers), "finalizers are merged as a set")
    patched = api.patch_namespaced_lease("strategic", NAMESPACE, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/one"]}})
    equal(["example.com/two"], patched.metadata.finalizers)


@check
def model_is_sent_as_strategic_merge_patch_without_what_is_none():
    created("model", holder_identity="me", lease_transitions=1)
    patched = api.patch_namespaced_lease("model", NAMESPACE, lease("model", holder_identity="you"))
    equal(("you", 1), (patched.spec.holder_identity, patched.spec.lease_transitions))
    equal({"keep": "me"}, patched.metadata.labels)


@check
def merge_patch_takes_a_default_header():
    created("merge", holder_identity="me", lease_transitions=1)
    patched = merging.patch_namespaced_lease("merge", NAMESPACE, {
        "metadata": {"finalizers": ["example.com/two"], "labels": None}, "spec": {"holderIdentity": "you"}})
    equal(("you", 1), (patched.spec.holder_identity, patched.spec.lease_transitions))
    equal((["example.com/two"], None), (patched.metadata.finalizers, patched.metadata.labels), "lists are replaced")


@check
def apply_takes_a_default_header_and_a_string():
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "apply"}, "spec": {"holderIdentity": "me"}}
    apply = lambda manager, **query: applying.patch_namespaced_lease("apply", NAMESPACE, json.dumps(body), field_manager=manager, **query)
    applied = apply("one")
    equal(applied, apply("one"), "the same again is no change")
    body["spec"]["holderIdentity"] = "you"
    conflict = refused(409, apply, "two")
    equal([".spec.holderIdentity"], [cause["field"] for cause in conflict["details"]["causes"]])
    forced = apply("two", force=True)
    equal("you", forced.spec.holder_identity)
    equal([("two", "Apply")], [(entry.manager, entry.operation) for entry in forced.metadata.managed_fields], "nothing is left to the first")


@check
def apply_of_a_dictionary_is_refused_by_the_client_itself():
    try:
        applying.patch_namespaced_lease("apply", NAMESPACE, {"spec": {}}, field_manager="one")
    except ApiException as refusal:
        equal(0, refusal.status, "it was not sent")
        return
    raise AssertionError("the client sent it")


@check
def patch_that_changes_nothing_is_no_change():
    before = created("same", holder_identity="me")
    equal(before, api.patch_namespaced_lease("same", NAMESPACE, {"spec": {"holderIdentity": "me"}}))
    equal(before, merging.patch_namespaced_lease("same", NAMESPACE, {}))
    equal(before, api.patch_namespaced_lease("same", NAMESPACE, [{"op": "replace", "path": "/spec/holderIdentity", "value": "me"}]))


@check
def other_content_type_is_refused_415():
    before = created("typed", holder_identity="me")
    for content_type in ("application/json", "application/x-json"):
        refused(415, leases(content_type=content_type).patch_namespaced_lease, "typed", NAMESPACE, {"spec": {"holderIdentity": "you"}})
    equal(before, api.read_namespaced_lease("typed", NAMESPACE))


def outcome(call, *args):
    try:
        return 200, call(*args)
    except ApiException as refusal:
        return refusal.status, json.loads(refusal.body)["reason"]


def two_at_once(name, content_type, body, expected):
    """Sends a patch that rests on one version twice at the same time, each to another node, round after round."""
    current = created(name, holder_identity="nobody")
    doors = [leases(node, content_type=content_type) for node in NODES[:2]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for turn in range(10):
            version = current.metadata.resource_version
            sent = [pool.submit(outcome, door.patch_namespaced_lease, name, NAMESPACE, body("holder-%d-%d" % (turn, k), version))
                    for k, door in enumerate(doors)]
            outcomes = dict(future.result() for future in sent)
            equal(expected, sorted(outcomes), "turn %d: %s" % (turn, outcomes))
            current = api.read_namespaced_lease(name, NAMESPACE)
            equal(outcomes[200], current, "whoever was answered 200 holds it")


@check
def of_two_merge_patches_of_one_version_one_is_a_conflict():
    two_at_once("two-merge", MERGE, lambda holder, version: {"metadata": {"resourceVersion": version}, "spec": {"holderIdentity": holder}}, [200, 409])


@check
def of_two_strategic_merge_patches_of_one_version_one_is_a_conflict():
    two_at_once(
        "two-strategic", STRATEGIC, lambda holder, version: {"metadata": {"resourceVersion": version}, "spec": {"holderIdentity": holder}}, [200, 409])


@check
def of_two_json_patches_that_set_one_version_one_is_a_conflict():
    two_at_once("two-json", JSON, lambda holder, version: [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/spec/holderIdentity", "value": holder},
    ], [200, 409])


@check
def of_two_json_patches_that_test_one_version_one_is_invalid():
    two_at_once("two-tests", JSON, lambda holder, version: [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/spec/holderIdentity", "value": holder},
    ], [200, 422])


@check
def renewals_through_all_nodes_change_only_the_time_and_the_version():
    start = datetime.datetime(2024, 2, 29, 12, 30, 15, 500000, datetime.timezone.utc)
    first = created("renewed", holder_identity="me", lease_transitions=3, acquire_time=start, renew_time=start)
    doors = [leases(node) for node in NODES]
    current = first
    for turn in range(1, 301):
        current.spec.renew_time = start + datetime.timedelta(seconds=turn)
        current = doors[turn % 3].replace_namespaced_lease("renewed", NAMESPACE, current)
    equal(start + datetime.timedelta(seconds=300), current.spec.renew_time)
    true(int(current.metadata.resource_version) >= int(first.metadata.resource_version) + 300, "a version each")
    current.spec.renew_time = first.spec.renew_time
    current.metadata.resource_version = first.metadata.resource_version
    current.metadata.managed_fields = first.metadata.managed_fields
    equal(first, current)
