"""The Spark session of the tour, and how its statements are checked."""

import contextlib
import json
import os
import time
import urllib.parse

from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession


def catalog(name, url, **properties):
    """The settings of one catalog on the server."""
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": url}
    settings[".cache-enabled"] = "false"  # each statement asks the server anew; the tour reaches tables in several ways
    settings |= {"." + key.replace("_", "-"): value for key, value in properties.items()}
    return {f"spark.sql.catalog.{name}{key}": value for key, value in settings.items()}


class Tour:
    def __init__(self, url):
        settings = {
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.defaultCatalog": "lake",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
            **catalog("lake", url, warehouse="lake"),
            # The same mount once more; here DROP TABLE … PURGE is the server's work.
            **catalog("served", url, warehouse="lake", rest_catalog_purge="true"),
            **catalog("archive", url, warehouse="archive"),
            **catalog("tree", url),
        }
        builder = SparkSession.builder.appName("tour")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")  # of statements that are meant to fail
        self.steps = 0

    @contextlib.contextmanager
    def step(self, name):
        """One step: it ends with a line of JSON, or with the exception of what was not as it should be."""
        begin = time.monotonic()
        try:
            yield
        except BaseException:
            print(json.dumps({"step": name, "ok": False}))
            raise
        self.steps += 1
        print(json.dumps({"step": name, "ok": True, "seconds": round(time.monotonic() - begin, 2)}))

    def end(self):
        self.spark.stop()
        print(json.dumps({"steps": self.steps}))

    def rows(self, statement):
        return [tuple(row) for row in self.spark.sql(statement).collect()]

    do = rows

    def value(self, statement):
        ((value,),) = self.rows(statement)
        return value

    def check(self, statement, *rows):
        """The statement has exactly these rows, in this order."""
        found = self.rows(statement)
        assert found == list(rows), f"{statement}\n  has  {found}\n  not  {list(rows)}"

    def refused(self, fragment, statement):
        """The statement fails with a message that holds the fragment."""
        try:
            found = self.rows(statement)
        except PySparkException as error:
            message = str(error)
        except Exception as error:  # what comes out of the JVM and is no error of Spark's
            message = str(error)
        else:
            raise AssertionError(f"{statement}\n  is answered with {found} and not refused with {fragment!r}")
        assert fragment in message, f"{statement}\n  is refused with {message[:2000]}\n  not with {fragment!r}"

    def schema(self, table):
        """The columns as (name, type)."""
        return [(field.name, field.dataType.simpleString()) for field in self.spark.table(table).schema.fields]

    def properties(self, table):
        return dict(self.rows(f"SHOW TBLPROPERTIES {table}"))

    def location(self, table):
        """The folder of a table's files."""
        described = {row[0]: row[1] for row in self.rows(f"DESCRIBE TABLE EXTENDED {table}")}
        return path(described["Location"])

    def iceberg(self, table):
        """The table in Iceberg's Java API, for what no statement does."""
        return self.spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, table)

    def view(self, namespace, name):
        """The view of the lake in Iceberg's Java API."""
        jvm = self.spark._jvm
        catalog = self.spark._jsparkSession.sessionState().catalogManager().catalog("lake").icebergCatalog()
        return catalog.loadView(jvm.org.apache.iceberg.catalog.TableIdentifier.parse(f"{namespace}.{name}"))


def path(location):
    """A file: location as a path."""
    return urllib.parse.unquote(urllib.parse.urlparse(location).path)


def files(folder):
    """Every file below a folder, whatever it is called."""
    return {os.path.join(place, name) for place, _, names in os.walk(folder) for name in names}


def eventually(condition, said):
    """What the server does in the background is done soon."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"after a minute, {said()}"
        time.sleep(0.05)
