"""Puts a table with rows into each catalog of the scenario, past Icefield where the catalog is somebody else's.

    python seed.py LAKE PARTNER SISTER

are the URLs of Icefield, and of the partner's and the sister's own servers. The last line printed is "seed: done".
"""

import sys

import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog


def table(catalog, name, rows):
    data = pa.Table.from_pylist(rows)
    catalog.create_table(name, data.schema).append(data)


def main(lake, partner, sister):
    prod = RestCatalog("prod", uri=lake, warehouse="prod")
    prod.create_namespace("sales", {"owner": "acme"})
    prod.create_namespace(("sales", "eu"))
    table(prod, ("sales", "orders"), [{"id": n, "customer": n % 3, "amount": 10 * n} for n in range(1, 7)])
    table(prod, ("sales", "eu", "returns"), [{"id": 3, "why": "broken"}])

    underneath = RestCatalog("root", uri=lake, warehouse="root")
    underneath.create_namespace("scratch")
    table(underneath, ("scratch", "notes"), [{"text": "é 😀"}])

    java = RestCatalog("partner", uri=partner)
    java.create_namespace("shared", {"from": "partner"})
    java.create_namespace(("shared", "inner"))
    table(java, ("shared", "customers"), [{"customer": n, "name": name} for n, name in enumerate(["Ada", "Bo", "Cy"])])
    table(java, ("shared", "inner", "deep"), [{"x": 1.5}])

    other = RestCatalog("sister", uri=sister)
    other.create_namespace("sales")
    table(other, ("sales", "orders"), [{"id": 100, "amount": 7}, {"id": 101, "amount": 8}])
    print("seed: done")


if __name__ == "__main__":
    main(*sys.argv[1:])
