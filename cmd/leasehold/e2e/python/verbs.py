"""Every verb that the client has for Leases, and what it makes of refusals."""

import datetime

from kubernetes import client, dynamic, utils

from checks import check, equal, refused, true
from cluster import NODES, connect, lease, leases, user_token

NAMESPACE = "python-verbs"
MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456, datetime.timezone.utc)

api = leases()


def unchanged_by(name, call):
    """Calls something that must not change a Lease, and returns what it returned."""
    before = api.read_namespaced_lease(name, NAMESPACE)
    answer = call()
    equal(before, api.read_namespaced_lease(name, NAMESPACE))
    return answer


@check
def creates_and_reads_at_every_node():
    body = lease("created", labels={"app": "x"}, holder_identity="me", lease_duration_seconds=15, acquire_time=MOMENT, renew_time=MOMENT)
    created = api.create_namespaced_lease(NAMESPACE, body)
    equal("Lease", created.kind)
    equal("coordination.k8s.io/v1", created.api_version)
    equal("OpenAPI-Generator", created.metadata.managed_fields[0].manager)
    equal((MOMENT, MOMENT), (created.spec.acquire_time, created.spec.renew_time))
    for node in NODES:
        equal(created, leases(node).read_namespaced_lease("created", NAMESPACE), node)


@check
def replaces_with_what_it_has_read():
    api.create_namespaced_lease(NAMESPACE, lease("replaced", holder_identity="me", renew_time=MOMENT))
    current = api.read_namespaced_lease("replaced", NAMESPACE)
    same = api.replace_namespaced_lease("replaced", NAMESPACE, current)
    equal(current, same, "a replace by the same is no change, whatever zone its times are in")
    current.spec.holder_identity = "you"
    current.spec.renew_time += datetime.timedelta(microseconds=1)
    replaced = api.replace_namespaced_lease("replaced", NAMESPACE, current)
    equal("you", replaced.spec.holder_identity)
    equal(MOMENT + datetime.timedelta(microseconds=1), replaced.spec.renew_time)
    true(int(replaced.metadata.resource_version) > int(current.metadata.resource_version), "a new version")


@check
def replace_of_a_missing_name_creates():
    created = api.replace_namespaced_lease("put", NAMESPACE, lease("put", holder_identity="me"))
    equal("me", created.spec.holder_identity)


@check
def stale_replace_is_a_conflict():
    stale = api.create_namespaced_lease(NAMESPACE, lease("stale", holder_identity="me"))
    api.patch_namespaced_lease("stale", NAMESPACE, {"spec": {"holderIdentity": "you"}})
    status = unchanged_by("stale", lambda: refused(409, api.replace_namespaced_lease, "stale", NAMESPACE, stale))
    equal("Conflict", status["reason"])


@check
def replace_without_a_version_is_invalid():
    api.create_namespaced_lease(NAMESPACE, lease("versionless", holder_identity="me"))
    status = unchanged_by("versionless", lambda: refused(
        422, api.replace_namespaced_lease, "versionless", NAMESPACE, lease("versionless", holder_identity="you")))
    equal("metadata.resourceVersion", status["details"]["causes"][0]["field"])


@check
def release_with_no_duration_is_invalid_and_with_one_second_it_is_not():
    current = api.create_namespaced_lease(NAMESPACE, lease("released", holder_identity="me", lease_duration_seconds=15))
    current.spec.holder_identity = ""
    for duration in (0, -1):
        current.spec.lease_duration_seconds = duration
        status = unchanged_by("released", lambda: refused(422, api.replace_namespaced_lease, "released", NAMESPACE, current))
        equal("spec.leaseDurationSeconds", status["details"]["causes"][0]["field"])
    current.spec.lease_duration_seconds = 1
    released = api.replace_namespaced_lease("released", NAMESPACE, current)
    equal("", released.spec.holder_identity)


@check
def to_dict_gives_back_the_same_lease():
    created = api.create_namespaced_lease(NAMESPACE, lease("dictionary", labels={"a": "b"}, holder_identity="me", renew_time=MOMENT))
    fields = created.to_dict()
    fields["metadata"]["managed_fields"] = [client.V1ManagedFieldsEntry(**entry) for entry in fields["metadata"]["managed_fields"]]
    again = client.V1Lease(
        api_version=fields["api_version"], kind=fields["kind"],
        metadata=client.V1ObjectMeta(**fields["metadata"]), spec=client.V1LeaseSpec(**fields["spec"]))
    equal(created.to_dict(), again.to_dict())
    equal(created, api.replace_namespaced_lease("dictionary", NAMESPACE, again), "no change")
    wire = api.api_client.sanitize_for_serialization(created)
    equal(created, api.replace_namespaced_lease("dictionary", NAMESPACE, wire), "no change")


@check
def to_dict_is_no_body_for_its_names_are_not_those_of_the_wire():
    created = api.create_namespaced_lease(NAMESPACE, lease("snakes", holder_identity="me"))
    status = unchanged_by("snakes", lambda: refused(422, api.replace_namespaced_lease, "snakes", NAMESPACE, created.to_dict()))
    equal("metadata.resourceVersion", status["details"]["causes"][0]["field"])
    lost = api.create_namespaced_lease(NAMESPACE, lease("snakes-lost", holder_identity="me").to_dict())
    equal(None, lost.spec.holder_identity, "holder_identity is an unknown field, which is warned of and dropped")


@check
def dry_run_writes_nothing():
    dry = api.create_namespaced_lease(NAMESPACE, lease("dry", holder_identity="me"), dry_run="All")
    true(dry.metadata.uid, "a uid")
    equal(None, dry.metadata.resource_version)
    refused(404, api.read_namespaced_lease, "dry", NAMESPACE)


@check
def generates_names():
    names = {
        api.create_namespaced_lease(NAMESPACE, client.V1Lease(metadata=client.V1ObjectMeta(generate_name="made-"))).metadata.name
        for _ in range(5)
    }
    equal(5, len(names))
    true(all(name.startswith("made-") and len(name) == 10 for name in names), names)


@check
def create_of_a_name_that_is_there_is_refused():
    api.create_namespaced_lease(NAMESPACE, lease("twice"))
    status = unchanged_by("twice", lambda: refused(409, api.create_namespaced_lease, NAMESPACE, lease("twice")))
    equal("AlreadyExists", status["reason"])
    equal({"name": "twice", "group": "coordination.k8s.io", "kind": "leases"}, status["details"])


@check
def deletes():
    created = api.create_namespaced_lease(NAMESPACE, lease("deleted"))
    refused(409, api.delete_namespaced_lease, "deleted", NAMESPACE, body=client.V1DeleteOptions(preconditions={"uid": "another"}))
    status = api.delete_namespaced_lease("deleted", NAMESPACE, body=client.V1DeleteOptions(preconditions={"uid": created.metadata.uid}))
    equal("Success", status.status)
    equal(created.metadata.uid, status.details.uid)
    equal("NotFound", refused(404, api.delete_namespaced_lease, "deleted", NAMESPACE)["reason"])


@check
def delete_that_waits_for_a_finalizer_is_answered_by_a_status_without_a_status():
    api.create_namespaced_lease(NAMESPACE, lease("finalized", finalizers=["example.com/wait"]))
    answer = api.delete_namespaced_lease("finalized", NAMESPACE)
    equal(("V1Status", "Lease", None), (type(answer).__name__, answer.kind, answer.status))
    marked = api.read_namespaced_lease("finalized", NAMESPACE)
    true(marked.metadata.deletion_timestamp, "marked")
    marked.metadata.finalizers = None
    api.replace_namespaced_lease("finalized", NAMESPACE, marked)
    refused(404, api.read_namespaced_lease, "finalized", NAMESPACE)


@check
def delete_collection_is_answered_by_a_status_of_kind_lease_list():
    for name in ("collected-1", "collected-2"):
        api.create_namespaced_lease(NAMESPACE, lease(name, labels={"collect": "me"}))
    answer = api.delete_collection_namespaced_lease(NAMESPACE, label_selector="collect=me")
    equal(("V1Status", "LeaseList"), (type(answer).__name__, answer.kind))
    equal([], api.list_namespaced_lease(NAMESPACE, label_selector="collect=me").items)
    true(api.list_namespaced_lease(NAMESPACE).items, "others stay")


@check
def lists_by_selectors():
    for name, app in (("listed-a", "one"), ("listed-b", "two")):
        api.create_namespaced_lease(NAMESPACE, lease(name, labels={"listed": app}))
    names = lambda **query: [item.metadata.name for item in api.list_namespaced_lease(NAMESPACE, **query).items]
    equal(["listed-a", "listed-b"], names(label_selector="listed"))
    equal(["listed-b"], names(label_selector="listed in (two,three)"))
    equal(["listed-a"], names(field_selector="metadata.name=listed-a"))
    everywhere = api.list_lease_for_all_namespaces(label_selector="listed").items
    equal([NAMESPACE] * 2, [item.metadata.namespace for item in everywhere])


@check
def unknown_token_is_an_api_exception_401():
    status = refused(401, leases(token="nobody").list_namespaced_lease, NAMESPACE)
    equal("Unauthorized", status["reason"])


@check
def user_without_rights_is_an_api_exception_403():
    status = refused(403, leases(token=user_token()).create_namespaced_lease, NAMESPACE, lease("forbidden"))
    equal("Forbidden", status["reason"])
    refused(404, api.read_namespaced_lease, "forbidden", NAMESPACE)


@check
def errors_name_the_field():
    bad = lease("bad", labels={"-": "x"}, lease_duration_seconds=0, lease_transitions=-1)
    status = refused(422, api.create_namespaced_lease, NAMESPACE, bad)
    equal(["metadata.labels", "spec.leaseDurationSeconds", "spec.leaseTransitions"], [cause["field"] for cause in status["details"]["causes"]])


@check
def discovers():
    shared = connect()
    equal("v1.37.2", client.VersionApi(shared).get_code().git_version)
    true("coordination.k8s.io" in [group.name for group in client.ApisApi(shared).get_api_versions().groups], "the group")
    equal("coordination.k8s.io/v1", client.CoordinationApi(shared).get_api_group().preferred_version.group_version)
    resources = {resource.name: resource for resource in client.CoordinationV1Api(shared).get_api_resources().resources}
    equal(("Lease", True), (resources["leases"].kind, resources["leases"].namespaced))


@check
def lists_the_namespaces_in_use_and_reads_any():
    api.create_namespaced_lease("python-namespace", lease("one"))
    core = client.CoreV1Api(connect())
    names = [namespace.metadata.name for namespace in core.list_namespace().items]
    true({"python-namespace", "default"} <= set(names) and "python-unused" not in names, names)
    for name in ("python-namespace", "python-unused"):
        equal("Active", core.read_namespace(name).status.phase)


@check
def asks_what_it_may_do():
    attributes = client.V1ResourceAttributes(group="coordination.k8s.io", resource="leases", verb="update", namespace=NAMESPACE)
    question = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    rules = client.V1SelfSubjectRulesReview(spec=client.V1SelfSubjectRulesReviewSpec(namespace=NAMESPACE))
    for token, allowed in ((None, True), (user_token(), False)):
        reviews = client.AuthorizationV1Api(connect(token=token))
        equal(allowed, reviews.create_self_subject_access_review(question).status.allowed)
        answer = reviews.create_self_subject_rules_review(rules)
        equal(allowed, any("*" in rule.verbs and "*" in rule.resources for rule in answer.status.resource_rules))


@check
def creates_from_yaml():
    utils.create_from_dict(connect(), {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "yaml", "namespace": NAMESPACE}, "spec": {"holderIdentity": "me", "renewTime": "2024-02-29T12:30:15.123456Z"},
    })
    equal(MOMENT, api.read_namespaced_lease("yaml", NAMESPACE).spec.renew_time)


@check
def dynamic_client_finds_leases_and_writes_them():
    resource = dynamic.DynamicClient(connect()).resources.get(api_version="coordination.k8s.io/v1", kind="Lease")
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "dynamic"}, "spec": {"holderIdentity": "me"}}
    created = resource.create(body=body, namespace=NAMESPACE)
    equal("me", created.spec.holderIdentity)
    patched = resource.patch(
        name="dynamic", namespace=NAMESPACE, body={"spec": {"holderIdentity": "you"}}, content_type="application/merge-patch+json")
    equal("you", patched.spec.holderIdentity)
    equal(patched.to_dict(), resource.get(name="dynamic", namespace=NAMESPACE).to_dict())
    equal("Success", resource.delete(name="dynamic", namespace=NAMESPACE).status)
    equal([], resource.get(namespace=NAMESPACE, field_selector="metadata.name=dynamic").items)
