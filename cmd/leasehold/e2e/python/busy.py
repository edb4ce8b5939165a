"""A node that has no room for another request. Its test starts the cluster with room for one."""

import concurrent.futures
import contextlib
import os
import socket
import ssl
import time
import urllib.parse

from kubernetes.client.rest import ApiException

from checks import check, equal, refused, true
from cluster import DIRECTORY, NODES, lease, leases
from lossy import relay

NAMESPACE = "python-busy"
PATIENCE = 60


@contextlib.contextmanager
def occupied(node):
    """Keeps a node busy with a request whose body does not come."""
    api = leases(node, retries=False)
    with contextlib.closing(occupy(api.api_client.configuration)):
        yield
    await_that(lambda: code(api) == 200, "the node has room again")


def occupy(configuration):
    """Sends a request whose body is awaited, for then it has the node's place, and returns its connection."""
    trust = ssl.create_default_context(cafile=os.path.join(DIRECTORY, "ca.crt"))
    address = urllib.parse.urlsplit(configuration.host)
    head = "POST /apis/coordination.k8s.io/v1/namespaces/%s/leases HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n" % (
        NAMESPACE, address.netloc, configuration.api_key["authorization"])
    head += "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        connection = trust.wrap_socket(socket.create_connection((address.hostname, address.port)), server_hostname=address.hostname)
        connection.sendall(head.encode())
        if connection.recv(1000).startswith(b"HTTP/1.1 100 "):
            return connection
        connection.close()  # refused, for somebody else had the place
    raise AssertionError("the node has no room")


def code(api):
    try:
        return api.list_namespaced_lease_with_http_info(NAMESPACE)[1]
    except ApiException as refusal:
        return refusal.status


def await_that(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        true(time.monotonic() < deadline, what + ": it does not come to that")
        time.sleep(0.01)


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
            await_that(lambda: server.answered > 0, "the node answers")
        equal("LeaseList", listing.result().kind)
        true(server.passed > 1, "the client did not hear of the refusal")
