"""Runs the two snippets that "icefield demo" printed, as printed, and compares what they find.

    python pasted.py SNIPPET.py SNIPPET.sql

The last line printed is "pasted: equal rows from PyIceberg and DuckDB".
"""

import pathlib
import sys

import duckdb

python, sql = (pathlib.Path(argument).read_text() for argument in sys.argv[1:])

found = {}
exec(compile(python, sys.argv[1], "exec"), found)
assert found["orders"].num_rows == 6, found["orders"]
assert found["events"].num_rows == 8, found["events"]
namespaces = found["catalog"].list_namespaces()
assert sorted(namespaces) == [("partner",), ("prod",), ("scratch",)], namespaces
joined = found["events"].join(found["orders"], "order_id").select(["kind", "customer", "amount"])
# pyarrow's join keeps events without an order, SQL's does not.
by_pyiceberg = sorted(tuple(row.values()) for row in joined.to_pylist() if row["customer"] is not None)
assert len(by_pyiceberg) == 7, joined

by_duckdb = sorted(duckdb.connect().execute(sql).fetchall())
assert by_duckdb == by_pyiceberg, (by_duckdb, by_pyiceberg)
print("pasted: equal rows from PyIceberg and DuckDB")
