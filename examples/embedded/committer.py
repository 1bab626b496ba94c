"""Appends rows, one commit each, and writes down which ones were acknowledged, while the server is killed and restarted.

    python committer.py URL WRITER LEDGER STOP

Row n is appended by writer WRITER to the table "crash.rows". Before it is sent, the line "try n" goes to the file LEDGER,
after it was acknowledged the line "ok n". It ends when the file STOP is there.
"""

import os
import pathlib
import sys
import time

import pyarrow as pa
import requests
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, RESTError

# What a client sees of a server that dies, is gone, or has just started. Everything else fails this program. What a retry
# may do differs: after CommitFailedException the row is certainly not there, after the others nobody knows.
GONE = (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError, CommitStateUnknownException)


def connected(url, stop):
    while not stop.exists():
        try:
            return RestCatalog("committer", uri=url).load_table("crash.rows")
        except (*GONE, RESTError) as failure:
            if isinstance(failure, RESTError) and "starting" not in str(failure):
                raise
            time.sleep(0.02)
    return None


def main(url, writer, ledger, stop):
    stop = pathlib.Path(stop)
    number = 0
    with open(ledger, "a") as lines:

        def note(line):
            lines.write(line + "\n")
            lines.flush()
            os.fsync(lines.fileno())

        table = connected(url, stop)
        while table is not None and not stop.exists():
            number += 1
            note(f"try {number}")
            row = pa.Table.from_pylist([{"writer": int(writer), "number": number}])
            while not stop.exists():
                try:
                    table.append(row)
                    note(f"ok {number}")
                    break
                except CommitFailedException:  # another writer was first; take the newest state and try again
                    table = connected(url, stop)
                except (*GONE, RESTError) as failure:
                    if isinstance(failure, RESTError) and "starting" not in str(failure):
                        raise
                    table = connected(url, stop)
                    break  # unknown: this row is given up, it may or may not be there
                if table is None:
                    break
    print("committer: done")


if __name__ == "__main__":
    main(*sys.argv[1:])
