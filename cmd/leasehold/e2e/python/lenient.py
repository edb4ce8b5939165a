"""Times as this client writes them, and as a server takes them that was told to be lenient."""

import datetime
import json

from checks import check, equal, refused
from cluster import lease, leases

NAMESPACE = "python-lenient"
UTC = datetime.timezone.utc
WHOLE = datetime.datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)

api = leases()


def create(name, time):
    return api.create_namespaced_lease_with_http_info(NAMESPACE, lease(name, holder_identity="me", renew_time=time))


def written(name):
    """Returns the time of a Lease as the server writes it."""
    answer = api.read_namespaced_lease(name, NAMESPACE, _preload_content=False)
    return json.loads(answer.data)["spec"]["renewTime"]


@check
def whole_second_is_created_201():
    created, code, _ = create("whole", WHOLE)
    equal((201, WHOLE), (code, created.spec.renew_time))
    equal("2024-02-29T12:30:15.000000Z", written("whole"))


@check
def whole_second_that_was_read_is_written_back_without_a_change():
    current, _, _ = create("back", "2024-02-29T12:30:15.000000Z")
    equal(current, api.replace_namespaced_lease("back", NAMESPACE, current))


@check
def whole_second_is_taken_by_each_patch():
    create("patched", WHOLE)
    body = lambda hours: lease("patched", renew_time=WHOLE + datetime.timedelta(hours=hours))
    equal(WHOLE + datetime.timedelta(hours=1), api.patch_namespaced_lease("patched", NAMESPACE, body(1)).spec.renew_time)
    merging = leases(content_type="application/merge-patch+json")
    equal(WHOLE + datetime.timedelta(hours=2), merging.patch_namespaced_lease("patched", NAMESPACE, body(2)).spec.renew_time)
    applying = leases(content_type="application/apply-patch+yaml")
    wire = dict(api.api_client.sanitize_for_serialization(body(3)), apiVersion="coordination.k8s.io/v1", kind="Lease")
    applied = applying.patch_namespaced_lease("patched", NAMESPACE, json.dumps(wire), field_manager="me", force=True)
    equal(WHOLE + datetime.timedelta(hours=3), applied.spec.renew_time)


@check
def text_of_other_clients_is_cut_to_microseconds():
    for number, (text, expected) in enumerate((
            ("12:30:15.123Z", "12:30:15.123000Z"), ("12:30:15.123456789Z", "12:30:15.123456Z"), ("12:30:15.1Z", "12:30:15.100000Z"),
            ("12:30:15.123456Z", "12:30:15.123456Z"), ("12:30:15+02:00", "10:30:15.000000Z"))):
        name = "text-%d" % number
        equal(201, create(name, "2024-02-29T" + text)[1])
        equal("2024-02-29T" + expected, written(name))


@check
def time_without_a_zone_is_refused_400_all_the_same():
    refused(400, create, "naive", datetime.datetime(2024, 2, 29, 12, 30, 15, 123456))
