"""Clients of the cluster that the test has started."""

import os
import subprocess

from kubernetes import client, config

DIRECTORY = os.environ["LEASEHOLD_DEV_DIR"]
NODES = ("node-1", "node-2", "node-3")
BALANCER = "cluster"


def connect(context=BALANCER, token=None, retries=None):
    """Returns the client that all APIs share, at one of the kubeconfig's contexts. False for retries sends nothing again."""
    configuration = client.Configuration()
    config.load_kube_config(os.path.join(DIRECTORY, "kubeconfig"), context, configuration)
    if token is not None:
        configuration.api_key = {"authorization": "Bearer " + token}
    configuration.retries = retries
    return client.ApiClient(configuration)


def leases(context=BALANCER, token=None, content_type=None, retries=None):
    """Returns the API of Leases. A content type replaces what the client would say of any body."""
    api_client = connect(context, token, retries)
    if content_type is not None:
        api_client.set_default_header("Content-Type", content_type)
    return client.CoordinationV1Api(api_client)


def lease(name, labels=None, annotations=None, finalizers=None, **spec):
    """Makes a Lease out of what its spec shall hold."""
    metadata = client.V1ObjectMeta(name=name, labels=labels, annotations=annotations, finalizers=finalizers)
    return client.V1Lease(metadata=metadata, spec=client.V1LeaseSpec(**spec))


def user_token():
    """Returns the token of a user who may do nothing."""
    with open(os.path.join(DIRECTORY, "user.token")) as file:
        return file.read().strip()


def restart(node):
    """Stops a node in order and starts it again."""
    number = node[len("node-"):]
    subprocess.run([os.environ["LEASEHOLD"], "dev", "restart", number, "--dir", DIRECTORY], check=True, stdout=subprocess.DEVNULL)
