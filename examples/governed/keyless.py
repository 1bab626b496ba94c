"""What the Python programs of this folder share: none of them has a key of the store, or asks the machine for one."""

import json
import os
import sys
import time
import warnings

for name in [name for name in os.environ if name.startswith(("AWS_", "PYICEBERG_"))]:
    del os.environ[name]
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

SECRETS = ("access-key", "secret", "session-token")


def keyless(properties):
    """Asserts that a client's settings hold no key of a store."""
    held = [name for name in properties if name.startswith(("s3.", "client.")) and any(secret in name for secret in SECRETS)]
    assert not held, held


def show(text):
    """Prints a line, and when that was."""
    print(f"{time.monotonic() - begun:5.1f} s  {text}")


begun = time.monotonic()


def said(error):
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def refused(fragments, what, do):
    """The call fails, with an error that holds one of the fragments."""
    try:
        do()
    except Exception as error:
        text = said(error)
    else:
        raise AssertionError(f"{what}: it is not refused")
    assert any(fragment in text for fragment in fragments), f"{what}: refused with {text}"
    show(f"{what}: {text[:300]}")


def main(steps):
    warnings.simplefilter("ignore")
    step, task = sys.argv[1:]
    steps[step](json.loads(task))
    print(step + ": all steps passed")
