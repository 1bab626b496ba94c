"""Tables: created from a query, written to in every way, replaced, renamed."""

from session import files

ORDERS = "lake.sales.orders"


def run(tour):
    with tour.step("create table as select"):
        tour.do(f"""CREATE TABLE {ORDERS} USING iceberg PARTITIONED BY (region)
            TBLPROPERTIES ('format-version' = '2', 'commit.retry.num-retries' = '2')
            AS SELECT * FROM VALUES (1, 'eu', 'open', 10), (2, 'eu', 'paid', 20), (3, 'us', 'open', 30), (4, 'ap', 'void', 40)
                AS t(id, region, state, amount)""")
        tour.check(f"SELECT * FROM {ORDERS} ORDER BY id",
                   (1, "eu", "open", 10), (2, "eu", "paid", 20), (3, "us", "open", 30), (4, "ap", "void", 40))
        assert tour.schema(ORDERS) == [("id", "int"), ("region", "string"), ("state", "string"), ("amount", "int")]
        tour.check(f"SELECT operation FROM {ORDERS}.snapshots", ("append",))
        assert tour.properties(ORDERS)["commit.retry.num-retries"] == "2"
        tour.check("SHOW TABLES IN lake.sales", ("sales", "orders", False))

    with tour.step("create table as select that fails"):
        folder = tour.location(ORDERS).split("/sales/")[0]
        before = files(folder)
        tour.refused("TABLE_OR_VIEW_ALREADY_EXISTS", f"CREATE TABLE {ORDERS} USING iceberg AS SELECT 1 AS id")
        tour.refused("not today", "CREATE TABLE lake.sales.failed USING iceberg AS SELECT IF(id > 2, raise_error('not today'), id) AS id "
                     "FROM range(5)")
        tour.refused("TABLE_OR_VIEW_NOT_FOUND", "SELECT * FROM lake.sales.failed")
        tour.check("SHOW TABLES IN lake.sales", ("sales", "orders", False))
        # What Spark's tasks had written may stay; a table that never came to be has no metadata.
        new = files(folder) - before
        assert not [file for file in new if file.endswith((".json", ".avro"))], new

    with tour.step("insert"):
        tour.do(f"INSERT INTO {ORDERS} VALUES (5, 'us', 'open', 50), (6, 'sa', 'open', 60)")
        tour.check(f"SELECT count(*), sum(amount) FROM {ORDERS}", (6, 210))
        tour.do(f"INSERT OVERWRITE {ORDERS} PARTITION (region = 'sa') SELECT 7, 'paid', 70")
        tour.check(f"SELECT * FROM {ORDERS} WHERE region = 'sa'", (7, "sa", "paid", 70))
        tour.check(f"SELECT count(*) FROM {ORDERS}", (6,))

    with tour.step("merge"):
        tour.do(f"""MERGE INTO {ORDERS} AS t USING (SELECT * FROM VALUES
                (1, 'eu', 'paid', 11), (4, 'ap', 'gone', 0), (8, 'eu', 'open', 80) AS s(id, region, state, amount)) AS s
            ON t.id = s.id
            WHEN MATCHED AND s.state = 'gone' THEN DELETE
            WHEN MATCHED THEN UPDATE SET t.state = s.state, t.amount = s.amount
            WHEN NOT MATCHED THEN INSERT *
            WHEN NOT MATCHED BY SOURCE AND t.region = 'us' THEN UPDATE SET t.amount = t.amount + 1""")
        tour.check(f"SELECT * FROM {ORDERS} ORDER BY id", (1, "eu", "paid", 11), (2, "eu", "paid", 20), (3, "us", "open", 31),
                   (5, "us", "open", 51), (7, "sa", "paid", 70), (8, "eu", "open", 80))

    with tour.step("update and delete"):
        tour.do(f"UPDATE {ORDERS} SET state = 'paid', amount = amount * 2 WHERE id = 3")
        tour.do(f"DELETE FROM {ORDERS} WHERE id = 5")  # rewrites a file
        tour.do(f"DELETE FROM {ORDERS} WHERE region = 'sa'")  # drops one
        tour.check(f"SELECT * FROM {ORDERS} ORDER BY id",
                   (1, "eu", "paid", 11), (2, "eu", "paid", 20), (3, "us", "paid", 62), (8, "eu", "open", 80))
        tour.check(f"SELECT operation FROM {ORDERS}.snapshots ORDER BY committed_at",
                   *[(o,) for o in "append append overwrite overwrite overwrite overwrite delete".split()])
        tour.do("CREATE TABLE lake.sales.emptied USING iceberg AS SELECT * FROM range(5)")
        tour.do("TRUNCATE TABLE lake.sales.emptied")
        tour.check("SELECT count(*) FROM lake.sales.emptied", (0,))
        tour.do("DROP TABLE lake.sales.emptied")

    with tour.step("merge on read"):
        table = "lake.sales.ledger"
        tour.do(f"""CREATE TABLE {table} (id BIGINT, note STRING) USING iceberg TBLPROPERTIES ('format-version' = '2',
            'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')""")
        tour.do(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, 'first' FROM range(10)")
        tour.do(f"DELETE FROM {table} WHERE id = 3")
        tour.do(f"UPDATE {table} SET note = 'second' WHERE id = 4")
        tour.do(f"""MERGE INTO {table} AS t USING (SELECT 5L AS id) AS s ON t.id = s.id
            WHEN MATCHED THEN UPDATE SET note = 'third'""")
        tour.check(f"SELECT note, count(*), sum(id) FROM {table} GROUP BY note ORDER BY note",
                   ("first", 7, 33), ("second", 1, 4), ("third", 1, 5))
        tour.check(f"SELECT content, record_count FROM {table}.delete_files", (1, 3))  # one data file, one file of its deleted positions

    with tour.step("replace table"):
        table = "lake.sales.daily"
        tour.do(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT 1 AS day")  # creates it
        tour.do(f"CREATE OR REPLACE TABLE {table} USING iceberg PARTITIONED BY (region) "
                f"TBLPROPERTIES ('made-by' = 'the tour') AS SELECT region, sum(amount) AS amount FROM {ORDERS} GROUP BY region")
        tour.check(f"SELECT * FROM {table} ORDER BY region", ("eu", 111), ("us", 62))
        assert tour.schema(table) == [("region", "string"), ("amount", "bigint")]
        assert tour.properties(table)["made-by"] == "the tour"
        tour.do(f"REPLACE TABLE {table} USING iceberg AS SELECT 'all' AS region, sum(amount) AS amount FROM {ORDERS}")
        tour.check(f"SELECT * FROM {table}", ("all", 173))
        tour.check(f"SELECT count(*) FROM {table}.snapshots", (3,))  # its history goes on
        first = tour.value(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1")
        tour.check(f"SELECT * FROM {table} VERSION AS OF {first}", (1,))
        tour.refused("NOT_FOUND", "REPLACE TABLE lake.sales.absent USING iceberg AS SELECT 1 AS id")

    with tour.step("rename table"):
        tour.do("CREATE NAMESPACE lake.old")
        tour.do("ALTER TABLE lake.sales.daily RENAME TO sales.totals")
        tour.do("ALTER TABLE lake.sales.totals RENAME TO old.totals")
        tour.check("SELECT * FROM lake.old.totals", ("all", 173))
        tour.refused("TABLE_OR_VIEW_NOT_FOUND", "SELECT * FROM lake.sales.daily")
        tour.refused("TABLE_OR_VIEW_ALREADY_EXISTS", f"ALTER TABLE lake.old.totals RENAME TO sales.orders")
        tour.do("DROP TABLE lake.old.totals")
        tour.do("DROP NAMESPACE lake.old")
