"""PyIceberg and DuckDB on the governed lake: python iceberg.py STEP TASK, where TASK is JSON. See governed_test.go."""

import os
import time

from keyless import keyless, main, refused, said, show

import duckdb
import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import ForbiddenError, NoSuchTableError, OAuthError, UnauthorizedError
from pyiceberg.io import load_file_io
from pyiceberg.table import StaticTable


def catalog(task, mount, **properties):
    keyless(properties)
    return RestCatalog(mount, uri=task["url"], warehouse=mount, **properties)


def orders(start, count):
    numbers = range(start, start + count)
    return pa.table({"id": pa.array(numbers, pa.int64()), "name": pa.array([f"order {n}" for n in numbers], pa.string())})


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def sees(what, found, *wanted):
    assert found in wanted, f"{what}: {found}"
    show(f"{what}: {found}")


def written(task):
    """A writer creates, appends, deletes rows and reads, an admin drops; by vended keys alone."""
    lake = catalog(task, "lake", credential="writer:" + task["writer"])
    lake.create_namespace("sales")
    table = lake.create_table(("sales", "orders"), orders(0, 0).schema)
    table.append(orders(0, 3))
    table.append(orders(3, 2))
    table.delete("id = 1")
    sees("the writer reads", ids(lake.load_table(("sales", "orders"))), [0, 2, 3, 4])
    with lake.create_table_transaction(("sales", "staged"), orders(0, 0).schema) as transaction:
        transaction.append(orders(10, 2))
    sees("the writer reads what was created with its rows", ids(lake.load_table(("sales", "staged"))), [10, 11])
    lake.create_table(("sales", "orders2"), orders(0, 0).schema).append(orders(20, 1))  # beside orders, by name too
    refused(["ForbiddenError"], "the writer drops", lambda: lake.drop_table(("sales", "staged")))
    admin = catalog(task, "lake", credential="admin:" + task["admin"])
    admin.drop_table(("sales", "staged"))
    sees("the admin has dropped", lake.table_exists(("sales", "staged")), False)


def read(task):
    """A reader reads by vended keys alone, and writes neither to the store nor to the catalog."""
    lake = catalog(task, "lake", credential="reader:" + task["reader"])
    table = lake.load_table(("sales", "orders"))
    sees("the reader reads", ids(table), [0, 2, 3, 4])
    sees("the reader reads with a filter", table.scan(row_filter="id > 3").to_arrow()["name"].to_pylist(), ["order 4"])
    tree = RestCatalog("tree", uri=task["url"], credential="reader:" + task["reader"])
    sees("the reader reads in the tree", ids(tree.load_table(("lake", "sales", "orders"))), [0, 2, 3, 4])
    refused(["ACCESS_DENIED", "AccessDenied", "Forbidden", "403"], "the reader appends (the store)", lambda: table.append(orders(9, 1)))

    def change():
        with table.transaction() as transaction:
            transaction.set_properties(mine="yes")

    refused(["ForbiddenError"], "the reader commits (the catalog)", change)
    refused(["ForbiddenError"], "the reader creates", lambda: lake.create_table(("sales", "mine"), orders(0, 0).schema))
    refused(["ForbiddenError"], "the reader drops", lambda: lake.drop_table(("sales", "orders")))
    sees("afterwards", ids(lake.load_table(("sales", "orders"))), [0, 2, 3, 4])

    globex = RestCatalog("globex", uri=task["url"], credential="globex:" + task["globex"])
    refused(["NoSuchTableError"], "the other company reads", lambda: globex.load_table(("lake", "sales", "orders")))
    sees("the other company lists", globex.list_namespaces(), [("pond",)])


def one_worker():
    """This client keeps one file system for all of its threads and sets the signer of it anew for each table and thread, so
    that with several workers a request can go out between an old signer and a new one, without any signature."""
    os.environ["PYICEBERG_MAX_WORKERS"] = "1"


def signed(task):
    """By remote signing alone: no key at all, neither configured nor handed out."""
    one_worker()
    wanted = {"header.X-Iceberg-Access-Delegation": "remote-signing"}
    lake = catalog(task, "signed", credential="writer:" + task["writer"], **wanted)
    lake.create_namespace("sales")
    table = lake.create_table(("sales", "orders"), orders(0, 0).schema)
    keyless(table.io.properties)
    sees("its requests are signed by", table.io.properties["s3.signer.endpoint"], "v1/signed/namespaces/sales/tables/orders/sign")
    table.append(orders(0, 3))
    table.append(orders(3, 2))
    table.delete("id = 1")
    sees("the writer reads", ids(lake.load_table(("sales", "orders"))), [0, 2, 3, 4])
    lake.create_table(("sales", "others"), orders(0, 0).schema).append(orders(50, 1))
    reader = catalog(task, "signed", credential="reader:" + task["reader"], **wanted)
    table = reader.load_table(("sales", "orders"))
    sees("the reader reads", ids(table), [0, 2, 3, 4])
    refused(["SignError", "403", "Forbidden"], "the reader appends (nothing is signed)", lambda: table.append(orders(9, 1)))


def fixed(task):
    """As clients do that know one route for all tables, and do not ask."""
    one_worker()
    old = {
        "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO", "s3.signer": "S3V4RestSigner",
        "s3.endpoint": task["store"], "s3.region": "us-east-1",
    }
    lake = catalog(task, "signed", credential="writer:" + task["writer"], **old)
    table = lake.load_table(("sales", "orders"))
    keyless(table.io.properties)
    sees("its requests are signed by", table.io.properties.get("s3.signer.endpoint"), None)
    table.append(orders(5, 1))
    sees("the writer reads", ids(lake.load_table(("sales", "orders"))), [0, 2, 3, 4, 5])
    refused(
        ["SignError", "403", "404", "Forbidden", "FileNotFound", "Permission"], "another company's object",
        lambda: table.io.new_input(task["foreign"]).open().read(),
    )


def logins(task):
    """Every way in that this client has."""
    for what, properties in {
        "an API key as secret": {"credential": "anything:" + task["reader"]},
        "an API key alone": {"credential": task["reader"]},
        "an API key as token": {"token": task["reader"]},
        "a client of the issuer": {"credential": "etl:" + task["etl"]},
        "a token of the issuer": {"token": task["token"]},
        "a client of the issuer, by Basic": {
            "auth": {"type": "oauth2", "oauth2": {"client_id": "reader", "client_secret": task["reader"], "token_url": task["url"] + "/v1/oauth/tokens"}},
        },
    }.items():
        sees(what, ids(catalog(task, "lake", **properties).load_table(("sales", "orders"))), [0, 2, 3, 4])
    answers = set()
    for what, properties in {
        "a wrong API key": {"credential": "reader:" + task["reader"][:-1] + "x"},
        "a wrong secret of the issuer's": {"credential": "etl:" + task["etl"][:-1]},
        "a client that there is not": {"credential": "nobody:" + task["etl"]},
        "a wrong token": {"token": task["reader"][:-1] + "x"},
        "a token that was changed": {"token": task["token"][:-4] + "AAAA"},
    }.items():
        try:
            catalog(task, "lake", **properties).load_table(("sales", "orders"))
        except (OAuthError, UnauthorizedError) as error:
            show(f"{what}: {said(error)}")
            answers.add(said(error))
        else:
            raise AssertionError(f"{what} gets in")
    assert len(answers) == 2, answers  # one of the token route, one of the catalog


def alice(task):
    """One table for one person."""
    lake = catalog(task, "lake", token=task["token"])
    sees("alice lists what there is", lake.list_namespaces(), [("hr",)])
    sees("alice lists hr", lake.list_tables("hr"), [("hr", "payroll")])
    sees("alice reads", ids(lake.load_table(("hr", "payroll"))), [1, 2, 3])
    refused(["NoSuchTableError"], "alice reads another table", lambda: lake.load_table(("hr", "reviews")))
    refused(["NoSuchTableError"], "alice reads another namespace's", lambda: lake.load_table(("sales", "orders")))


def company(task):
    """The tables that policies of this folder speak of."""
    lake = catalog(task, "lake", credential="writer:" + task["writer"])
    lake.create_namespace("hr")
    for name in ("payroll", "reviews"):
        lake.create_table(("hr", name), orders(0, 0).schema).append(orders(1, 3))
    lake.create_namespace("crm")
    address = pa.struct([pa.field("street", pa.string()), pa.field("city", pa.string())])
    customers = pa.table({
        "id": pa.array([1, 2], pa.int64()), "country": pa.array(["NO", "SE"]), "email": pa.array(["ola@example.no", "eva@example.se"]),
        "address": pa.array([{"street": "Storgata 1", "city": "Oslo"}, {"street": "Storgatan 1", "city": "Kiruna"}], address),
    })
    lake.create_table(("crm", "customers"), customers.schema).append(customers)
    pond = catalog(task, "pond", credential="globex:" + task["globex"])
    pond.create_namespace("fish")
    table = pond.create_table(("fish", "stock"), orders(0, 0).schema)
    table.append(orders(0, 1))
    sees("the other company writes", ids(table), [0])


def restricted(task):
    """PyIceberg gets no keys for a table that it is restricted on, and so none of its rows."""
    lake = catalog(task, "lake", token=task["token"])
    table = lake.load_table(("crm", "customers"))
    keyless(table.io.properties)
    refused(["ACCESS_DENIED", "AccessDenied", "Forbidden", "403", "credential"], "sam reads the files", lambda: table.scan().to_arrow())


def long(task):
    """A job that outlives its keys: what it loaded before is refused by the store, until it gets fresh keys for the table."""
    lake = catalog(task, "brief", credential="writer:" + task["writer"])
    lake.create_namespace("python")
    table = lake.create_table(("python", "orders"), orders(0, 0).schema)
    table.append(orders(0, 3))
    table = lake.load_table(("python", "orders"))
    sees("with the first keys", ids(table), [0, 1, 2])
    ends = int(table.io.properties["s3.session-token-expires-at-ms"]) / 1000
    show(f"the keys end in {ends - time.time():.0f} s")
    while time.time() < ends + 1:
        time.sleep(0.2)
    refused(["ACCESS_DENIED", "AccessDenied", "ExpiredToken", "403", "Forbidden"], "with keys that have ended", lambda: ids(table))
    fresh = lake.load_credentials(("python", "orders"), table.metadata_location)
    left = int(fresh["s3.session-token-expires-at-ms"]) / 1000 - time.time()
    show(f"the fresh keys end in {left:.0f} s")
    assert left > 5, left
    io = load_file_io({**table.io.properties, **fresh}, table.metadata_location)
    again = StaticTable.from_metadata(table.metadata_location, io.properties)
    sees("with fresh keys", ids(again), [0, 1, 2])
    lake.load_table(("python", "orders")).append(orders(30, 1))


def duck(task):
    """DuckDB: a client id and a secret, which it sends by HTTP Basic, and vended keys."""
    connection = duckdb.connect()
    for extension in ("httpfs", "avro", "iceberg"):
        connection.execute(f"install {extension}")
        connection.execute(f"load {extension}")

    def attach(name, client, secret):
        connection.execute(
            f"create secret {name}_login (type iceberg, client_id '{client}', client_secret '{secret}',"
            f" oauth2_server_uri '{task['url']}/v1/oauth/tokens')"
        )
        connection.execute(f"attach 'lake' as {name} (type iceberg, endpoint '{task['url']}', secret {name}_login)")

    for name, client, secret in (("by_key", "reader", task["reader"]), ("by_issuer", "etl", task["etl"])):
        attach(name, client, secret)
        rows = connection.execute(f"select id, name from {name}.sales.orders order by id").fetchall()
        sees(f"DuckDB reads, {name}", [row[0] for row in rows], [0, 2, 3, 4], [0, 2, 3, 4, 40])
    refused(["403", "Forbidden", "ermission", "denied"], "DuckDB writes as a reader",
            lambda: connection.execute("insert into by_key.sales.orders values (77, 'none')"))
    connection.execute("insert into by_issuer.sales.orders2 values (21, 'by DuckDB')")
    rows = connection.execute("select id from by_issuer.sales.orders2 order by id").fetchall()
    sees("DuckDB reads what it wrote", [row[0] for row in rows], [20, 21])
    refused(["invalid_client", "401", "Unauthorized", "wrong"], "DuckDB with a wrong secret", lambda: attach("wrong", "reader", "no key at all, I fear"))


if __name__ == "__main__":
    main({
        "written": written, "read": read, "signed": signed, "fixed": fixed, "logins": logins, "alice": alice, "company": company,
        "restricted": restricted, "long": long, "duck": duck,
    })
