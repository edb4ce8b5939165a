"""Watches, and how this client comes back to where one ended."""

import queue
import threading
import time

import urllib3
from kubernetes import watch
from kubernetes.client.rest import ApiException

from checks import check, equal, true
from cluster import BALANCER, NODES, lease, leases, restart
from history import outlive

NAMESPACE = "python-watches"
PATIENCE = 60

api = leases()


def told(event):
    """Shortens an event to what is compared: what happened, to whom, with which version."""
    return event["type"], event["object"].metadata.name, event["object"].metadata.resource_version


class Writer:
    """Writes one Lease, and keeps what a watch must tell of it."""

    def __init__(self, name):
        self.name = name
        self.expected = []

    def expect(self, kind, written):
        self.expected.append((kind, self.name, written.metadata.resource_version))

    def create(self):
        self.expect("ADDED", api.create_namespaced_lease(NAMESPACE, lease(self.name, labels={"written": self.name}, lease_transitions=0)))

    def renew(self, door=api, times=1):
        for _ in range(times):
            current = door.read_namespaced_lease(self.name, NAMESPACE)
            current.spec.lease_transitions += 1
            self.expect("MODIFIED", door.replace_namespaced_lease(self.name, NAMESPACE, current))


def now():
    return api.list_namespaced_lease(NAMESPACE).metadata.resource_version


@check
def tells_what_is_there_and_then_what_happens():
    writer = Writer("told")
    writer.create()
    seen = []
    for event in watch.Watch().stream(api.list_namespaced_lease, NAMESPACE, label_selector="written=told", _request_timeout=PATIENCE):
        seen.append(told(event))
        if len(seen) == 1:
            writer.renew(times=2)
        elif len(seen) == 3:
            api.delete_namespaced_lease("told", NAMESPACE)
        elif len(seen) == 4:
            break
    equal(writer.expected, seen[:3])
    equal(("DELETED", "told"), seen[3][:2])
    true(int(seen[3][2]) > int(seen[2][2]), "the version of the deletion")
    equal("V1Lease", type(event["object"]).__name__)


@check
def resumes_at_another_node_from_the_last_version_that_it_saw():
    writer = Writer("resumed")
    version = now()
    writer.create()
    seen = []
    for turn in range(6):
        writer.renew(times=5)
        watching = watch.Watch()
        for event in watching.stream(
                leases(NODES[turn % 3]).list_namespaced_lease, NAMESPACE, resource_version=version, _request_timeout=PATIENCE):
            seen.append(told(event))
            if len(seen) == 4 * (turn + 1):
                watching.stop()
        version = watching.resource_version
    equal(writer.expected[:24], seen, "nothing is lost, nothing comes twice")


@check
def ends_by_itself_after_timeout_seconds():
    writer = Writer("timed")
    version = now()
    writer.create()
    events = list(watch.Watch().stream(api.list_namespaced_lease, NAMESPACE, resource_version=version, timeout_seconds=1))
    equal(writer.expected, [told(event) for event in events])


@check
def bookmarks_come_as_dictionaries_and_leave_the_version_to_resume_from():
    version = now()
    writer = Writer("marked")
    writer.create()
    watching, bookmarks = watch.Watch(), []
    for event in watching.stream(
            api.list_namespaced_lease, NAMESPACE, resource_version=version, allow_watch_bookmarks=True, timeout_seconds=5):
        if event["type"] == "BOOKMARK":
            bookmarks.append(event["object"])
    true(bookmarks, "there were bookmarks")
    equal(dict, type(bookmarks[0]))
    true(int(bookmarks[-1]["metadata"]["resourceVersion"]) >= int(writer.expected[-1][2]), "a bookmark is not behind the events")
    equal(writer.expected[-1][2], watching.resource_version)


@check
def expired_version_is_an_api_exception_410_without_a_body():
    version = now()
    watch_from_then = lambda: list(
        watch.Watch().stream(api.list_namespaced_lease, NAMESPACE, resource_version=version, timeout_seconds=1))
    expired = outlive(watch_from_then)
    equal(None, expired.body)
    true(expired.reason.startswith("Expired: too old resource version: " + version), expired.reason)

    asked = []

    def counted(*args, **kwargs):
        asked.append(kwargs["resource_version"])
        return api.list_namespaced_lease(*args, **kwargs)

    try:
        list(watch.Watch(return_type="V1Lease").stream(counted, NAMESPACE, resource_version=version))
        raise AssertionError("the watch ended without an error")
    except ApiException as again:
        equal(410, again.status)
    equal([version, version], asked, "without timeout_seconds it asks twice")


class Watching:
    """A watch in a thread of its own, at the balancer, that goes on where it was cut off."""

    def __init__(self, version):
        self.watch = watch.Watch(return_type="V1Lease")
        self.watch.resource_version = version
        self.asked, self.cut = 0, []
        self.events = queue.Queue()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def list(self, *args, **kwargs):
        self.asked += 1
        return leases(BALANCER).list_namespaced_lease(*args, **kwargs)

    def run(self):
        while True:
            try:
                for event in self.watch.stream(self.list, NAMESPACE, resource_version=self.watch.resource_version):
                    self.events.put(told(event))
            except (ApiException, urllib3.exceptions.HTTPError) as cut:
                self.cut.append(cut)
                time.sleep(0.1)

    def next(self, count):
        return [self.events.get(timeout=PATIENCE) for _ in range(count)]


@check
def goes_on_by_itself_while_every_node_is_restarted():
    writer = Writer("rolling")
    writer.create()
    watching = Watching(writer.expected[0][2])
    for node in NODES:
        writer.renew(times=20)
        restart(node)
        writer.renew(leases(node), times=20)
    equal(writer.expected[1:], watching.next(120), "nothing is lost, nothing comes twice")
    true(watching.asked > 1, "no restart ended the watch")
    true(not [cut for cut in watching.cut if isinstance(cut, ApiException) and cut.status not in (0, 429, 503)], watching.cut)
