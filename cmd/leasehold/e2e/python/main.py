"""Checks what the Python client makes of Leasehold. The arguments are the topics to check: modules of this folder."""

import importlib
import sys

import checks

if __name__ == "__main__":
    for topic in sys.argv[1:]:
        importlib.import_module(topic)
    checks.run(sys.argv[1:])
