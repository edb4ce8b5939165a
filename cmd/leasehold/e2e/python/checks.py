"""Runs checks, and prints what became of each as one line of JSON."""

import json
import sys
import traceback

_topics = {}


def check(function):
    """Makes a function a check of the topic that its module is; its name tells what it shows."""
    topic = function.__module__
    _topics.setdefault(topic, []).append(function)
    return function


def run(topics):
    """Runs all checks of some topics, in the order in which they were written. A fault does not keep others from running."""
    for topic in topics:
        for function in _topics[topic]:
            _print(topic, function)


def _print(topic, function):
    fault = ""
    try:
        function()
    except Exception:
        fault = traceback.format_exc()
    name = topic + "/" + function.__name__.replace("_", " ")
    json.dump({"check": name, "fault": fault}, sys.stdout)
    print(flush=True)


def equal(expected, actual, what=""):
    if expected != actual:
        raise AssertionError("%s: expected %r, got %r" % (what or "different", expected, actual))


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def refused(status, call, *args, **kwargs):
    """Calls what must fail with an ApiException of some status, and returns the Status object that came with it."""
    from kubernetes.client.rest import ApiException

    try:
        answer = call(*args, **kwargs)
    except ApiException as refusal:
        equal(status, refusal.status, refusal.body)
        body = json.loads(refusal.body)
        equal("Status", body["kind"])
        equal(status, body["code"])
        return body
    raise AssertionError("expected %d, got %s" % (status, answer))
