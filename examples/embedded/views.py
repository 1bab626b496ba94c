"""The life of views, as far as PyIceberg drives it.

    python views.py URL [WAREHOUSE]

With LENIENT=1 in the environment it leaves out the few things in which Iceberg's Java test server is not as strict as
the specification, so that the script itself can be checked against that server.

Every step asserts what it did; the last line printed is "views: all steps passed". The catalog must be empty of the
top-level namespace "sight" and may hold anything else. It runs unchanged against any Iceberg REST catalog.
"""

import os
import sys

import expect
from pyiceberg.catalog.rest import Endpoints, IdentifierKind, RestCatalog
from pyiceberg.exceptions import (
    BadRequestError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    RESTError,
    TableAlreadyExistsError,
    ViewAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

strict = os.environ.get("LENIENT") != "1"
url = sys.argv[1]
warehouse = sys.argv[2] if len(sys.argv) > 2 else ""
catalog = RestCatalog("views", uri=url, **({"warehouse": warehouse} if warehouse else {}))
schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "note", StringType()))
shop = ("sight", "shop")


def version(namespace, **queries):
    """A first version that reads the given SQL in each dialect."""
    return ViewVersion(
        version_id=1,
        schema_id=0,
        timestamp_ms=1700000000000,
        summary={"engine-name": "scenario"},
        default_namespace=list(namespace),
        representations=[SQLViewRepresentation(type="sql", dialect=dialect, sql=sql) for dialect, sql in queries.items()],
    )


def metadata_location(name):
    """Where the view's metadata file is, which PyIceberg's View does not say."""
    path = catalog._split_identifier_for_path(shop + (name,), IdentifierKind.VIEW)
    answer = catalog._session.get(catalog.url(Endpoints.load_view, prefixed=True, **path))
    return answer.json()["metadata-location"]


catalog.create_namespace("sight")
catalog.create_namespace(shop)

# A view is what was asked for, for whoever loads it, and lies where nothing else does.
created = catalog.create_view(
    shop + ("recent",), schema, version(shop, spark="SELECT `id` FROM t", trino='SELECT "id" FROM t'),
    properties={"comment": "recent ones", "gc.enabled": "false"},
)
loaded = catalog.load_view(shop + ("recent",))
assert loaded == created, (loaded.metadata, created.metadata)
assert loaded.sql_for("TRINO").sql == 'SELECT "id" FROM t', loaded.current_version()
assert tuple(loaded.current_version().default_namespace) == shop, loaded.current_version()
assert [field.name for field in loaded.schema().fields] == ["id", "note"], loaded.schema()
assert loaded.properties["comment"] == "recent ones", loaded.properties
assert len(loaded.history()) == 1 and len(loaded.versions) == 1, loaded.metadata
beside = catalog.create_view(shop + ("beside",), schema, version(shop, spark="SELECT 1"))
assert beside.location() != loaded.location() and beside.uuid() != loaded.uuid()

# It is there as a view and as nothing else, and shares its name with no table.
assert catalog.view_exists(shop + ("recent",)) and not catalog.view_exists(shop + ("missing",))
assert not catalog.table_exists(shop + ("recent",))
table = catalog.create_table(shop + ("orders",), schema)
assert catalog.list_views(shop) == [shop + ("beside",), shop + ("recent",)], catalog.list_views(shop)
assert catalog.list_tables(shop) == [shop + ("orders",)], catalog.list_tables(shop)
expect.raises(NoSuchTableError, lambda: catalog.load_table(shop + ("recent",)))
expect.raises(NoSuchViewError, lambda: catalog.load_view(shop + ("orders",)))
expect.raises(NoSuchViewError, lambda: catalog.load_view(("nowhere", "recent")))
expect.raises(ViewAlreadyExistsError, lambda: catalog.create_view(shop + ("recent",), schema, version(shop, spark="SELECT 2")))
expect.raises(ViewAlreadyExistsError, lambda: catalog.create_view(shop + ("orders",), schema, version(shop, spark="SELECT 2")))
expect.raises(TableAlreadyExistsError, lambda: catalog.create_table(shop + ("recent",), schema))
if strict:
    expect.raises(NoSuchNamespaceError, lambda: catalog.list_views(("sight", "no")))
    # PyIceberg has no exception of its own for this one.
    nowhere = expect.raises(RESTError, lambda: catalog.create_view(("sight", "no", "v"), schema, version(shop, spark="SELECT 2")))
    assert "Namespace does not exist: sight.no" in str(nowhere), nowhere
assert catalog.load_view(shop + ("recent",)) == created

# A dropped view is gone, and its metadata file brings it back, under another name as well. A table's does not.
location = metadata_location("recent")
catalog.drop_view(shop + ("recent",))
assert not catalog.view_exists(shop + ("recent",))
expect.raises(NoSuchViewError, lambda: catalog.drop_view(shop + ("recent",)))
expect.raises(NoSuchViewError, lambda: catalog.drop_view(shop + ("orders",)))
back = catalog.register_view(shop + ("back",), location)
assert back.metadata == created.metadata == catalog.load_view(shop + ("back",)).metadata
expect.raises(ViewAlreadyExistsError, lambda: catalog.register_view(shop + ("back",), location))
expect.raises(TableAlreadyExistsError, lambda: catalog.register_view(shop + ("orders",), location))
if strict:
    expect.raises(BadRequestError, lambda: catalog.register_view(shop + ("wrong",), table.metadata_location))
    expect.raises(BadRequestError, lambda: catalog.register_table(shop + ("wrong",), location))
    assert not catalog.view_exists(shop + ("wrong",)) and not catalog.table_exists(shop + ("wrong",))

# What holds a view cannot be dropped.
catalog.drop_table(shop + ("orders",))
expect.raises(NamespaceNotEmptyError, lambda: catalog.drop_namespace(shop))
catalog.drop_view(shop + ("back",))
catalog.drop_view(shop + ("beside",))
catalog.drop_namespace(shop)
catalog.drop_namespace("sight")
print("views: all steps passed")
