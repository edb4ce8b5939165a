"""Pushes out what the cluster remembers. Its test starts it with the shortest history in bytes that there is."""

import time

from kubernetes.client.rest import ApiException

from checks import equal, true
from cluster import lease, leases

NAMESPACE = "python-history"
PATIENCE = 60


def outlive(expired):
    """Writes until what a call asks for is remembered no more. Returns the exception that it ends with then."""
    api = leases()
    ballast = api.create_namespaced_lease(NAMESPACE, lease("ballast", annotations={}))
    deadline = time.monotonic() + PATIENCE
    while True:
        for letter in "abcdef":
            ballast.metadata.annotations = {"ballast": letter * 200000}
            ballast = api.replace_namespaced_lease("ballast", NAMESPACE, ballast)
        try:
            expired()
        except ApiException as refusal:
            equal(410, refusal.status, refusal)
            api.delete_namespaced_lease("ballast", NAMESPACE)
            return refusal
        true(time.monotonic() < deadline, "nothing expires")
