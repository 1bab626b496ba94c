"""Reads and writes rows through Icefield with PyIceberg.

    python rows.py SCENARIO

is a JSON object: "remote" and "lake" are properties of catalogs (the remote's own, and Icefield's tree), "shelf" and
"desk" the names of the two mounts, and "step" is "rows" or "evolves". The rows that are read were written past Icefield, and those that are written are
looked at past it. The last line printed is "STEP: all steps passed".
"""

import json
import sys

import pyarrow as pa
import s3fs
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.types import StringType

# s3fs gives the same file system to two catalogs with the same store, and PyIceberg adds a signer to it for each.
s3fs.S3FileSystem.cachable = False


def people(start, count):
    numbers = range(start, start + count)
    return pa.table({"id": pa.array(numbers, pa.int64()), "name": pa.array([f"name {n}" for n in numbers], pa.string())})


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def reads(scenario, lake, remote):
    table = remote.create_table(("rows", "people"), people(0, 0).schema)
    table.append(people(0, 3))
    table.append(people(3, 2))
    for prefix, catalog in (
        (("shelf",), lake()),
        ((), lake(warehouse=scenario["shelf"])),
    ):
        prefix = tuple(scenario[name] for name in prefix)
        assert (*prefix, "rows", "people") in catalog.list_tables((*prefix, "rows"))
        seen = catalog.load_table((*prefix, "rows", "people"))
        assert ids(seen) == [0, 1, 2, 3, 4], ids(seen)
        assert seen.scan(row_filter="id >= 3").to_arrow()["name"].to_pylist() == ["name 3", "name 4"]
        assert not catalog.table_exists((*prefix, "rows", "nobody"))
        try:
            catalog.load_table((*prefix, "rows", "people", "files"))
            raise AssertionError("the metadata table is there")
        except NoSuchTableError:
            pass


def writes(scenario, lake, remote):
    # In the mount's own view: the tree has a mount that is read only, so that it advertises no writes, and PyIceberg sends
    # none that are not advertised.
    catalog = lake(warehouse=scenario["desk"])
    table = catalog.create_table(("rows", "pets"), people(0, 0).schema)
    table.append(people(0, 2))
    table.append(people(2, 2))
    table.delete("id = 1")
    assert ids(table) == [0, 2, 3], ids(table)
    with table.transaction() as transaction:
        transaction.set_properties({"owner": "a client"})
    past = remote.load_table(("rows", "pets"))
    assert ids(past) == [0, 2, 3] and past.properties["owner"] == "a client", (ids(past), past.properties)
    catalog.rename_table(("rows", "pets"), ("rows", "animals"))
    assert remote.table_exists(("rows", "animals"))
    catalog.drop_table(("rows", "animals"))
    assert not remote.table_exists(("rows", "animals"))


def evolves(scenario, lake, remote):
    catalog = lake(warehouse=scenario["desk"])
    with catalog.create_table_transaction(("rows", "staged"), people(0, 0).schema) as transaction:
        transaction.set_properties({"staged": "yes"})
    with catalog.load_table(("rows", "staged")).update_schema() as update:
        update.add_column("color", StringType())
    past = remote.load_table(("rows", "staged"))
    assert past.properties["staged"] == "yes" and past.schema().find_field("color")


def main(scenario):
    def lake(**more):
        return RestCatalog("lake", **scenario["lake"], **more)

    remote = RestCatalog("remote", **scenario["remote"])
    remote.create_namespace_if_not_exists("rows")
    {"rows": rows, "evolves": evolves}[scenario["step"]](scenario, lake, remote)
    print(scenario["step"] + ": all steps passed")


def rows(scenario, lake, remote):
    reads(scenario, lake, remote)
    writes(scenario, lake, remote)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
