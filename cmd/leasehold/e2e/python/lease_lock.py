"""A lock for this client's leader election that is a Lease. The client comes with one that is a ConfigMap only."""

import datetime
import json

import urllib3
from kubernetes import client
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord


class LeaseLock:
    """What the election asks of a lock: name, namespace and identity; get, create and update.

    The election sets no limit to a request, and an error that is no ApiException would end it without a word. So the lock
    waits for no answer longer than patience, in seconds, and turns errors of the connection into refusals. Its API must
    send nothing again by itself (retries=False), for that would multiply the patience.
    """

    def __init__(self, api, name, namespace, identity, patience):
        self.api = api
        self.patience = patience
        self.name = name
        self.namespace = namespace
        self.identity = identity
        self.current = None  # the Lease as it was when it was last read or written

    def get(self, name, namespace):
        """Returns whether there is a lock, and its record; or else the exception, for the election looks into its body."""
        try:
            self.current = self.ask(self.api.read_namespaced_lease, name, namespace)
        except ApiException as refusal:
            return False, refusal
        spec = self.current.spec
        return True, LeaderElectionRecord(
            spec.holder_identity, spec.lease_duration_seconds, local(spec.acquire_time), local(spec.renew_time))

    def create(self, name, namespace, election_record):
        lease = client.V1Lease(metadata=client.V1ObjectMeta(name=name), spec=self.spec(election_record, 0))
        return self.write(self.api.create_namespaced_lease, namespace, lease)

    def update(self, name, namespace, updated_record):
        """Writes over the version that get has read, and over no other."""
        held = self.current.spec
        transitions = (held.lease_transitions or 0) + (held.holder_identity != updated_record.holder_identity)
        lease = client.V1Lease(metadata=self.current.metadata, spec=self.spec(updated_record, transitions))
        return self.write(self.api.replace_namespaced_lease, name, namespace, lease)

    def write(self, call, *args):
        try:
            self.current = self.ask(call, *args)
        except ApiException:
            return False
        return True

    def ask(self, call, *args):
        try:
            return call(*args, _request_timeout=(self.patience, self.patience))
        except urllib3.exceptions.HTTPError as error:
            failure = ApiException(status=0, reason=str(error))
            failure.body = json.dumps({"code": 0})
            raise failure

    def spec(self, record, transitions):
        return client.V1LeaseSpec(
            holder_identity=record.holder_identity,
            lease_duration_seconds=int(record.lease_duration),
            acquire_time=micro(record.acquire_time),
            renew_time=micro(record.renew_time),
            lease_transitions=transitions)


def local(time):
    """Writes a time as the election does: str() of the machine's own time, without a zone."""
    return time and str(time.astimezone().replace(tzinfo=None))


def micro(text):
    """Turns a time of the election into what a Lease takes. Left to itself, the client would write no zone, and no fraction of a whole second."""
    return datetime.datetime.fromisoformat(text).astimezone(datetime.timezone.utc).isoformat(timespec="microseconds")
