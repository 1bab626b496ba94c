"""Compares a table with what its writers were told.

    python ledger.py URL prepare
    python ledger.py URL held LEDGER...
    python ledger.py URL check LEDGER...

"held" asserts that every acknowledged row can be read; it may run while there are more to come. "check" asserts as well
that each is there once, that no other row is there but one that was tried, and that there is one snapshot a row. Both print
how many rows were acknowledged, and "ledger: every row accounted for".
"""

import collections
import sys

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField


def prepare(url):
    catalog = RestCatalog("ledger", uri=url)
    catalog.create_namespace("crash")
    schema = Schema(NestedField(1, "writer", LongType()), NestedField(2, "number", LongType()))
    catalog.create_table("crash.rows", schema)
    print("ledger: prepared")


def read(url, ledgers):
    table = RestCatalog("ledger", uri=url).load_table("crash.rows")
    rows = collections.Counter((row["writer"], row["number"]) for row in table.scan().to_arrow().to_pylist())
    acknowledged, tried = set(), set()
    for writer, ledger in enumerate(ledgers):
        for line in open(ledger):
            what, number = line.split()
            (acknowledged if what == "ok" else tried).add((writer, int(number)))
    assert not acknowledged - set(rows), f"acknowledged and lost: {sorted(acknowledged - set(rows))}"
    print(f"ledger: {len(acknowledged)} acknowledged, {len(rows)} there")
    return table, rows, tried


def held(url, *ledgers):
    read(url, ledgers)
    print("ledger: every row accounted for")


def check(url, *ledgers):
    table, rows, tried = read(url, ledgers)
    assert set(rows) <= tried, f"never tried: {sorted(set(rows) - tried)}"
    twice = [row for row, count in rows.items() if count > 1]
    assert not twice, f"there more than once: {twice}"
    numbers = [snapshot.sequence_number for snapshot in table.snapshots()]
    assert sorted(numbers) == list(range(1, len(rows) + 1)), f"{len(rows)} rows, snapshots {sorted(numbers)}"
    assert sum(table.inspect.data_files()["record_count"].to_pylist()) == len(rows)
    print("ledger: every row accounted for")


if __name__ == "__main__":
    {"prepare": prepare, "held": held, "check": check}[sys.argv[2]](sys.argv[1], *sys.argv[3:])
