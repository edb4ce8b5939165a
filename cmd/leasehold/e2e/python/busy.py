"""A node that has no room for another request. Its test starts the cluster with room for one."""

import concurrent.futures
import contextlib
import http.client
import os
import ssl
import time
import urllib.parse

from kubernetes.client.rest import ApiException

from checks import check, equal, refused, true
from cluster import DIRECTORY, NODES, connect, lease, leases
from lossy import relay

NAMESPACE = "python-busy"
PATIENCE = 60


@contextlib.contextmanager
def occupied(node):
    """Keeps a node busy with a request whose body does not end."""
    shared = connect(node)
    trust = ssl.create_default_context(cafile=os.path.join(DIRECTORY, "ca.crt"))
    with contextlib.closing(http.client.HTTPSConnection(urllib.parse.urlsplit(shared.configuration.host).netloc, context=trust)) as connection:
        connection.putrequest("POST", "/apis/coordination.k8s.io/v1/namespaces/%s/leases" % NAMESPACE)
        for name, value in {**shared.configuration.api_key, "content-type": "application/json", "content-length": 2}.items():
            connection.putheader(name, value)
        connection.endheaders(b"{")
        await_code(429, node)
        yield
    await_code(200, node)


def await_code(code, node):
    """Asks a node until it answers with a code."""
    api = leases(node, retries=False)
    deadline = time.monotonic() + PATIENCE
    answered = None
    while answered != code:
        true(time.monotonic() < deadline, "%d is not answered" % code)
        try:
            answered = api.list_namespaced_lease_with_http_info(NAMESPACE)[1]
        except ApiException as refusal:
            answered = refusal.status


@check
def create_is_refused_429():
    with occupied(NODES[0]):
        status = refused(429, leases(NODES[0]).create_namespaced_lease, NAMESPACE, lease("refused"))
    equal(("TooManyRequests", 1), (status["reason"], status["details"]["retryAfterSeconds"]))


@check
def list_is_sent_again_after_the_time_that_the_node_asks_for():
    with relay(NODES[0]) as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
        api = leases(NODES[0])
        api.api_client.configuration.host = server.url()
        with occupied(NODES[0]):
            listing = pool.submit(api.list_namespaced_lease, NAMESPACE)
            deadline = time.monotonic() + PATIENCE
            while server.answered == 0:
                true(time.monotonic() < deadline, "no answer")
                time.sleep(0.01)
        equal("LeaseList", listing.result().kind)
        true(server.passed > 1, "the client did not hear of the refusal")
