"""PySpark on the governed lake: python engine.py STEP TASK, where TASK is JSON. See governed_test.go."""

import time

from keyless import keyless, main, refused, show

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession


def sees(what, found, wanted):
    assert found == wanted, f"{what}: {found}"
    show(f"{what}: {found}")


class Engine:
    """A session with a catalog for each way in."""

    def __init__(self, task):
        self.url = task["url"]
        tokens = {"oauth2-server-uri": self.url + "/v1/oauth/tokens"}
        vended = {"header.X-Iceberg-Access-Delegation": "vended-credentials"}
        signing = {"header.X-Iceberg-Access-Delegation": "remote-signing"}
        settings = {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            **self.catalog("lake", "lake", token=task["writer"], **vended),
            **self.catalog("admin", "lake", token=task["admin"], **vended),
            **self.catalog("reader", "lake", token=task["reader"], **vended),
            **self.catalog("issued", "lake", token=task["token"], **vended),
            **self.catalog("client", "lake", credential="etl:" + task["etl"], **tokens, **vended),
            **self.catalog("keyed", "lake", credential="reader:" + task["reader"], **tokens, **vended),
            **self.catalog("wrong", "lake", credential="etl:" + task["etl"] + "x", **tokens, **vended),
            **self.catalog("signed", "signed", token=task["writer"], **signing),
            **self.catalog("onlooker", "signed", token=task["reader"], **signing),
            # Tables that were loaded are used again for as long as the session lasts.
            **self.catalog("brief", "brief", token=task["writer"], cache="true", **{"cache.expiration-interval-ms": "-1"}, **vended),
        }
        builder = SparkSession.builder.appName("governed")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")  # of statements that are meant to fail

    def catalog(self, name, mount, cache="false", **properties):
        keyless(properties)
        properties |= {
            "type": "rest", "uri": self.url, "warehouse": mount, "io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "cache-enabled": cache,
        }
        return {f"spark.sql.catalog.{name}": "org.apache.iceberg.spark.SparkCatalog"} | {
            f"spark.sql.catalog.{name}.{key}": value for key, value in properties.items()
        }

    def do(self, statement):
        return [tuple(row) for row in self.spark.sql(statement).collect()]

    def ids(self, table):
        return [row[0] for row in self.do(f"SELECT id FROM {table} ORDER BY id")]


def writes(engine, catalog, who):
    """Create, append, delete rows, create with rows."""
    engine.do(f"CREATE NAMESPACE {catalog}.engines")
    engine.do(f"CREATE TABLE {catalog}.engines.events (id BIGINT, kind STRING) USING iceberg")
    engine.do(f"INSERT INTO {catalog}.engines.events VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    engine.do(f"INSERT INTO {catalog}.engines.events VALUES (4, 'd')")
    engine.do(f"DELETE FROM {catalog}.engines.events WHERE id = 2")
    sees(f"{who} reads", engine.ids(f"{catalog}.engines.events"), [1, 3, 4])
    sees(f"{who} reads snapshots", len(engine.do(f"SELECT * FROM {catalog}.engines.events.snapshots")), 3)


def spark(task):
    engine = Engine(task)
    keys = {"brief": time.time()}
    engine.do("CREATE NAMESPACE brief.engines")
    engine.do("CREATE TABLE brief.engines.events (id BIGINT) USING iceberg")
    engine.do("INSERT INTO brief.engines.events VALUES (1)")
    sees("with the first keys", engine.ids("brief.engines.events"), [1])
    keys["brief"] = time.time()

    writes(engine, "lake", "Spark, by vended keys alone,")
    # Created and filled in one step: keys for a table that is not there yet.
    engine.do("CREATE TABLE lake.engines.chosen USING iceberg AS SELECT id FROM lake.engines.events WHERE id > 1")
    sees("Spark reads what was created with its rows", engine.ids("lake.engines.chosen"), [3, 4])
    refused(["ForbiddenException"], "the writer drops", lambda: engine.do("DROP TABLE lake.engines.chosen"))
    engine.do("DROP TABLE admin.engines.chosen")
    sees("the admin has dropped", engine.do("SHOW TABLES IN lake.engines"), [("engines", "events", False)])

    sees("an API key as token reads", engine.ids("reader.sales.orders"), [0, 2, 3, 4])
    sees("a token of the issuer reads", engine.ids("issued.sales.orders"), [0, 2, 3, 4])
    sees("a client of the issuer reads", engine.ids("client.sales.orders"), [0, 2, 3, 4])
    sees("an API key as secret reads", engine.ids("keyed.sales.orders"), [0, 2, 3, 4])
    refused(["NotAuthorizedException", "invalid_client"], "a wrong secret", lambda: engine.ids("wrong.sales.orders"))
    refused(["403", "Forbidden", "AccessDenied"], "the reader writes", lambda: engine.do("INSERT INTO reader.sales.orders VALUES (9, 'mine')"))
    refused(["ForbiddenException"], "the reader alters", lambda: engine.do("ALTER TABLE reader.sales.orders SET TBLPROPERTIES ('mine' = 'yes')"))
    exchange(engine, task)

    writes(engine, "signed", "Spark, by remote signing alone,")
    sees("the onlooker reads", engine.ids("onlooker.engines.events"), [1, 3, 4])
    refused(["403", "Forbidden"], "the onlooker writes", lambda: engine.do("INSERT INTO onlooker.engines.events VALUES (9, 'mine')"))

    while time.time() < keys["brief"] + task["session"] + 1:
        time.sleep(0.2)
    show(f"{time.time() - keys['brief']:.0f} s later")
    sees("with keys that were renewed", engine.ids("brief.engines.events"), [1])
    engine.do("INSERT INTO brief.engines.events VALUES (2)")
    sees("with keys that were renewed", engine.ids("brief.engines.events"), [1, 2])
    engine.spark.stop()


def exchange(engine, task):
    """As Trino does for each of its users: a catalog with a login of its own, and the user's token exchanged in its name."""
    jvm = engine.spark._jvm
    catalog = jvm.org.apache.iceberg.rest.RESTSessionCatalog()
    catalog.initialize("trino", {"uri": engine.url, "warehouse": "lake", "credential": "etl:" + task["etl"], "oauth2-server-uri": engine.url + "/v1/oauth/tokens"})

    def listed(user, credentials):
        context = jvm.org.apache.iceberg.catalog.SessionCatalog.SessionContext("session-" + user, user, credentials, {})
        return sorted(str(n) for n in catalog.listNamespaces(context, jvm.org.apache.iceberg.catalog.Namespace.empty()))

    access = "urn:ietf:params:oauth:token-type:access_token"
    sees("alice's token, exchanged, lists", listed("alice", {access: task["alice"]}), ["hr"])
    wide = listed("etl", {access: task["token"]})
    assert {"engines", "hr", "sales"} <= set(wide), wide
    show(f"etl's token, exchanged, lists: {wide}")
    refused(["NotAuthorizedException", "BadRequestException", "invalid"], "a token that nobody signed, exchanged,", lambda: listed("mallory", {
        "urn:ietf:params:oauth:token-type:jwt": task["unsigned"]}))
    catalog.close()


if __name__ == "__main__":
    main({"spark": spark})
