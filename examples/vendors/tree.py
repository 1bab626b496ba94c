"""What an analyst does with one tree over several catalogs, in PyIceberg and DuckDB.

    python tree.py LAKE

after seed.py. Every step asserts what it saw; the last line printed is "tree: all steps passed".
"""

import pathlib
import sys

import duckdb
import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "embedded"))
import expect  # noqa: E402


def one_tree(tree):
    root = tree.list_namespaces()
    assert sorted(root) == [("partner",), ("prod",), ("scratch",), ("sister",)], root
    assert tree.list_namespaces("prod") == [("prod", "sales")]
    assert tree.list_namespaces(("prod", "sales")) == [("prod", "sales", "eu")]
    assert tree.list_namespaces("partner") == [("partner", "shared")]
    assert tree.list_namespaces(("partner", "shared")) == [("partner", "shared", "inner")]
    assert tree.list_namespaces(("partner", "shared", "inner")) == []
    assert tree.list_namespaces("sister") == [("sister", "sales")]
    assert tree.list_namespaces("scratch") == []

    found = []
    pending = [()]
    for namespace in pending:
        pending += tree.list_namespaces(namespace)
        if namespace:
            found += tree.list_tables(namespace)
    assert sorted(found) == [
        ("partner", "shared", "customers"),
        ("partner", "shared", "inner", "deep"),
        ("prod", "sales", "eu", "returns"),
        ("prod", "sales", "orders"),
        ("scratch", "notes"),
        ("sister", "sales", "orders"),
    ], found
    for mount in ("prod", "partner", "sister"):  # a mount's root holds namespaces and no tables
        assert tree.list_tables(mount) == []
        assert tree.namespace_exists(mount)
        assert not tree.table_exists((mount, "orders"))
    assert tree.load_namespace_properties(("partner", "shared"))["from"] == "partner"
    assert tree.load_namespace_properties(("prod", "sales"))["owner"] == "acme"


def rows_of_each(tree):
    assert tree.load_table("prod.sales.orders").scan().to_arrow().num_rows == 6
    assert tree.load_table("prod.sales.eu.returns").scan().to_arrow().to_pylist() == [{"id": 3, "why": "broken"}]
    assert tree.load_table("scratch.notes").scan().to_arrow().to_pylist() == [{"text": "é 😀"}]
    assert tree.load_table("partner.shared.inner.deep").scan().to_arrow().to_pylist() == [{"x": 1.5}]
    sister = tree.load_table("sister.sales.orders").scan().to_arrow().sort_by("id").to_pylist()
    assert sister == [{"id": 100, "amount": 7}, {"id": 101, "amount": 8}], sister
    customers = tree.load_table("partner.shared.customers")
    assert customers.name() == ("partner", "shared", "customers")
    assert customers.scan(row_filter="customer = 1").to_arrow()["name"].to_pylist() == ["Bo"]


def a_join_across_catalogs(tree):
    orders = tree.load_table("prod.sales.orders").scan().to_arrow()
    customers = tree.load_table("partner.shared.customers").scan().to_arrow()
    want = [("Ada", 90), ("Bo", 50), ("Cy", 70)]
    got = duckdb.sql(
        "select name, sum(amount)::bigint from orders join customers using (customer) group by name order by name"
    ).fetchall()
    assert got == want, got
    joined = orders.join(customers, "customer").group_by("name").aggregate([("amount", "sum")]).sort_by("name")
    assert list(zip(joined["name"].to_pylist(), joined["amount_sum"].to_pylist())) == want, joined


def what_is_not_there(tree):
    for name in [("prod", "sales", "missing"), ("partner", "shared", "missing"), ("partner", "nowhere", "missing"), ("nowhere", "missing"), ("prod", "orders")]:
        expect.raises(NoSuchTableError, lambda: tree.load_table(name))
        assert not tree.table_exists(name), name
    for name in [("prod", "nowhere"), ("partner", "nowhere"), ("sister", "nowhere"), ("nowhere",)]:
        expect.raises(NoSuchNamespaceError, lambda: tree.list_tables(name))
        expect.raises(NoSuchNamespaceError, lambda: tree.load_namespace_properties(name))
        assert not tree.namespace_exists(name), name


def writes_go_where_they_may(tree, lake):
    """The tree has read-only mounts, so it advertises no writes, and PyIceberg sends none. The mount's own view does."""
    orders = tree.load_table("prod.sales.orders")
    row = pa.Table.from_pylist([{"id": 7, "customer": 0, "amount": 70}], schema=orders.scan().to_arrow().schema)
    expect.raises(NotImplementedError, lambda: orders.append(row))
    expect.raises(NotImplementedError, lambda: tree.drop_table("prod.sales.orders"))
    partner = RestCatalog("partner", uri=lake, warehouse="partner")
    expect.raises(NotImplementedError, lambda: partner.create_namespace("mine"))

    prod = RestCatalog("prod", uri=lake, warehouse="prod")
    prod.load_table("sales.orders").append(row)
    assert tree.load_table("prod.sales.orders").scan().to_arrow().num_rows == 7
    prod.load_table("sales.orders").delete("id = 7")
    assert tree.load_table("prod.sales.orders").scan().to_arrow().num_rows == 6


def each_mount_alone(lake):
    partner = RestCatalog("partner", uri=lake, warehouse="partner")
    assert partner.list_namespaces() == [("shared",)]
    assert partner.list_namespaces("shared") == [("shared", "inner")]
    assert partner.list_tables("shared") == [("shared", "customers")]
    table = partner.load_table("shared.customers")
    assert table.name() == ("shared", "customers")
    assert sorted(table.scan().to_arrow()["name"].to_pylist()) == ["Ada", "Bo", "Cy"]
    assert not partner.table_exists("shared.missing")

    sister = RestCatalog("sister", uri=lake, warehouse="sister")
    assert sister.list_tables("sales") == [("sales", "orders")]
    assert sister.load_table("sales.orders").scan().to_arrow().num_rows == 2

    prod = RestCatalog("prod", uri=lake, warehouse="prod")
    assert prod.load_table("sales.orders").scan().to_arrow().num_rows == 6
    underneath = RestCatalog("root", uri=lake, warehouse="root")
    assert underneath.list_namespaces() == [("scratch",)]


def main(lake):
    tree = RestCatalog("lake", uri=lake)
    one_tree(tree)
    rows_of_each(tree)
    a_join_across_catalogs(tree)
    what_is_not_there(tree)
    writes_go_where_they_may(tree, lake)
    each_mount_alone(lake)
    print("tree: all steps passed")


if __name__ == "__main__":
    main(*sys.argv[1:])
