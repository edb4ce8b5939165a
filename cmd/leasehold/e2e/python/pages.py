"""Lists in pages, each asked of another node, while somebody writes; and tokens that have expired."""

import itertools
import json

from checks import check, equal, refused, true
from cluster import NODES, lease, leases
from history import outlive

NAMESPACE = "python-pages"
TOTAL, LIMIT = 25, 10

api = leases()


def fill():
    """Makes the Leases that are listed, unless they are there. All carry one label."""
    if not api.list_namespaced_lease(NAMESPACE, limit=1).items:
        for number in range(TOTAL):
            api.create_namespaced_lease(NAMESPACE, lease("lease-%02d" % number, labels={"paged": "yes"}, holder_identity="me"))


def names(page):
    return [item.metadata.name for item in page.items]


@check
def pages_from_all_nodes_are_of_one_version_while_somebody_writes():
    fill()
    whole = names(api.list_namespaced_lease(NAMESPACE))
    seen, versions, remaining, token = [], set(), [], None
    for node in itertools.cycle(NODES):
        page = leases(node).list_namespaced_lease(NAMESPACE, limit=LIMIT, _continue=token)
        seen += names(page)
        versions.add(page.metadata.resource_version)
        remaining.append(page.metadata.remaining_item_count)
        token = page.metadata._continue
        if not token:
            break
        api.create_namespaced_lease(NAMESPACE, lease("lease-%02d-between" % len(seen)))
        api.delete_namespaced_lease(seen[-1], NAMESPACE)
        api.create_namespaced_lease(NAMESPACE, lease(seen[-1], labels={"paged": "yes"}, holder_identity="another"))
    equal(whole, seen)
    equal(1, len(versions), "versions")
    equal([15, 5, None], remaining, "remaining_item_count")


@check
def remaining_item_count_is_left_out_under_a_selector():
    fill()
    page = api.list_namespaced_lease(NAMESPACE, limit=LIMIT, label_selector="paged=yes")
    equal((LIMIT, None), (len(page.items), page.metadata.remaining_item_count))
    true(page.metadata._continue, "there is more")


@check
def all_namespaces_are_paged_too():
    fill()
    page = api.list_lease_for_all_namespaces(limit=1, field_selector="metadata.namespace=" + NAMESPACE)
    equal([NAMESPACE], [item.metadata.namespace for item in page.items])
    rest = api.list_lease_for_all_namespaces(_continue=page.metadata._continue, field_selector="metadata.namespace=" + NAMESPACE)
    equal(names(api.list_namespaced_lease(NAMESPACE))[1:], names(rest))


@check
def items_of_a_list_tell_no_kind():
    fill()
    whole = api.list_namespaced_lease(NAMESPACE)
    equal(("LeaseList", "coordination.k8s.io/v1"), (whole.kind, whole.api_version))
    equal({(None, None)}, {(item.kind, item.api_version) for item in whole.items})


@check
def list_at_an_exact_version_is_what_there_was():
    fill()
    then = api.list_namespaced_lease(NAMESPACE)
    api.delete_namespaced_lease("lease-03", NAMESPACE)
    api.create_namespaced_lease(NAMESPACE, lease("lease-03", labels={"paged": "yes"}, holder_identity="another"))
    for node in NODES:
        again = leases(node).list_namespaced_lease(
            NAMESPACE, resource_version=then.metadata.resource_version, resource_version_match="Exact")
        equal(then, again, node)


@check
def garbage_for_a_token_is_refused_400():
    refused(400, api.list_namespaced_lease, NAMESPACE, limit=LIMIT, _continue="garbage")


@check
def limit_with_version_0_is_ignored():
    fill()
    page = api.list_namespaced_lease(NAMESPACE, limit=1, resource_version="0")
    true(len(page.items) > 1 and not page.metadata._continue, "the whole list comes")


@check
def expired_token_is_an_api_exception_410_with_a_token_that_goes_on():
    fill()
    whole = names(api.list_namespaced_lease(NAMESPACE))
    first = api.list_namespaced_lease(NAMESPACE, limit=LIMIT)
    api.delete_namespaced_lease(whole[0], NAMESPACE)
    api.delete_namespaced_lease(whole[-1], NAMESPACE)
    ask = lambda node, token: leases(node).list_namespaced_lease(NAMESPACE, limit=LIMIT, _continue=token)
    status = json.loads(outlive(lambda: ask(NODES[0], first.metadata._continue)).body)
    equal("Expired", status["reason"])

    rest, token = [], status["metadata"]["continue"]
    for node in itertools.cycle(NODES):
        page = ask(node, token)
        rest += names(page)
        token = page.metadata._continue
        if not token:
            break
    equal(whole[LIMIT:-1], rest, "the rest, as it is now")
    true(int(page.metadata.resource_version) > int(first.metadata.resource_version), "of a newer version")
