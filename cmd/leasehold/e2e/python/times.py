"""Times as this client writes them, and as a server takes them that is as strict as kube-apiserver."""

import datetime

from checks import check, equal, refused, true
from cluster import lease, leases

NAMESPACE = "python-times"
UTC = datetime.timezone.utc
WHOLE = datetime.datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)

api = leases()


def create(name, time):
    return api.create_namespaced_lease(NAMESPACE, lease(name, holder_identity="me", renew_time=time))


def refuse(name, time):
    status = refused(400, create, name, time)
    equal("BadRequest", status["reason"])
    refused(404, api.read_namespaced_lease, name, NAMESPACE)
    return status["message"]


@check
def microseconds_of_any_zone_are_kept():
    for name, zone in (("utc", UTC), ("east", datetime.timezone(datetime.timedelta(hours=5, minutes=45)))):
        moment = (WHOLE + datetime.timedelta(microseconds=7)).astimezone(zone)
        equal(moment, create(name, moment).spec.renew_time)


@check
def times_far_off_are_kept_and_only_the_version_decides_who_may_write():
    for name, year in (("past", 1999), ("future", 2099)):
        moment = datetime.datetime(year, 1, 1, 0, 0, 0, 1, UTC)
        stale = create(name, moment)
        equal(moment, stale.spec.renew_time)
        taken = api.patch_namespaced_lease(name, NAMESPACE, {"spec": {"holderIdentity": "you"}})
        equal(("you", moment), (taken.spec.holder_identity, taken.spec.renew_time))
        refused(409, api.replace_namespaced_lease, name, NAMESPACE, stale)


@check
def whole_second_is_refused_400_for_isoformat_leaves_out_its_fraction():
    true("12:30:15+00:00" in refuse("whole", WHOLE), "the time stands in the message")


@check
def whole_second_that_was_read_cannot_be_written_back():
    current = create("back", "2024-02-29T12:30:15.000000Z")
    equal(WHOLE, current.spec.renew_time)
    refused(400, api.replace_namespaced_lease, "back", NAMESPACE, current)


@check
def time_without_a_zone_is_refused_400():
    refuse("naive", datetime.datetime(2024, 2, 29, 12, 30, 15, 123456))


@check
def text_of_other_clients_is_refused_400():
    for number, text in enumerate(("12:30:15.123Z", "12:30:15.123456789Z", "12:30:15Z", "12:30:15+02:00")):
        refuse("text-%d" % number, "2024-02-29T" + text)


@check
def microseconds_as_text_are_taken():
    equal(WHOLE, create("text", WHOLE.isoformat(timespec="microseconds")).spec.renew_time)
