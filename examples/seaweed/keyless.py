"""Writes and reads a table through Icefield without any key of the store.

    python keyless.py write URL     PyIceberg creates the table sales.orders in "lake", appends to it, reads it
    python keyless.py read URL      PyIceberg reads it in "lake" and in the tree; in "sealed" it has no access to the files
    python keyless.py duckdb URL    DuckDB reads it in "lake"

The last line printed is "STEP: all steps passed".
"""

import os
import sys

# Whoever runs this may hold keys; these clients do not, nor do they ask the machine for any.
for name in [name for name in os.environ if name.startswith(("AWS_", "PYICEBERG_"))]:
    del os.environ[name]
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

import duckdb
import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog


def orders(start, count):
    numbers = range(start, start + count)
    return pa.table({"id": pa.array(numbers, pa.int64()), "name": pa.array([f"order {n}" for n in numbers], pa.string())})


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def write(url):
    lake = RestCatalog("lake", uri=url, warehouse="lake")
    lake.create_namespace("sales")
    table = lake.create_table(("sales", "orders"), orders(0, 0).schema)
    table.append(orders(0, 3))
    table.append(orders(3, 2))
    assert ids(table) == [0, 1, 2, 3, 4], ids(table)
    table.delete("id = 1")
    with lake.create_table_transaction(("sales", "staged"), orders(0, 0).schema) as transaction:
        transaction.append(orders(10, 2))
    assert ids(lake.load_table(("sales", "staged"))) == [10, 11]


def read(url):
    for catalog, name in (
        (RestCatalog("lake", uri=url, warehouse="lake"), ("sales", "orders")),
        (RestCatalog("tree", uri=url), ("lake", "sales", "orders")),
    ):
        table = catalog.load_table(name)
        assert ids(table) == [0, 2, 3, 4], ids(table)
        assert table.scan(row_filter="id > 3").to_arrow()["name"].to_pylist() == ["order 4"]
    table = RestCatalog("sealed", uri=url, warehouse="sealed").load_table(("sales", "orders"))
    assert table.current_snapshot() is not None
    try:
        table.scan().to_arrow()
    except Exception as error:  # which one depends on who reads the files
        print("sealed:", type(error).__name__, error)
    else:
        raise AssertionError("the files can be read without a key")


def duck(url):
    connection = duckdb.connect()
    for extension in ("httpfs", "avro", "iceberg"):
        connection.execute(f"install {extension}")
        connection.execute(f"load {extension}")
    connection.execute(f"attach 'lake' as lake (type iceberg, endpoint '{url}', authorization_type 'none')")
    rows = connection.execute("select id, name from lake.sales.orders order by id").fetchall()
    assert rows == [(n, f"order {n}") for n in (0, 2, 3, 4)], rows


if __name__ == "__main__":
    step, address = sys.argv[1:]
    {"write": write, "read": read, "duckdb": duck}[step](address)
    print(step + ": all steps passed")
