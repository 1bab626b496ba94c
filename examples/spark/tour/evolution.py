"""Tables that change: columns, partitions, order, properties. Rows that were written before stay readable."""

TABLE = "lake.sales.events"


def run(tour):
    def transforms():
        """The partitioning, as DESCRIBE tells it."""
        return [row[1] for row in tour.rows(f"DESCRIBE TABLE {TABLE}") if row[0].startswith("Part ")]

    def order():
        return tour.properties(TABLE).get("sort-order")

    with tour.step("columns"):
        tour.do(f"""CREATE TABLE {TABLE} (id INT NOT NULL, at TIMESTAMP, place STRUCT<city: STRING>, amount FLOAT, drop_me INT)
            USING iceberg TBLPROPERTIES ('format-version' = '2')""")
        tour.do(f"INSERT INTO {TABLE} VALUES (1, TIMESTAMP '2026-01-01 10:00:00', named_struct('city', 'Oslo'), 1.5, 0)")
        tour.do(f"ALTER TABLE {TABLE} ADD COLUMNS (kind STRING COMMENT 'what happened' FIRST, tags ARRAY<STRING>)")
        tour.do(f"ALTER TABLE {TABLE} ADD COLUMN place.country STRING AFTER city")
        tour.do(f"ALTER TABLE {TABLE} RENAME COLUMN amount TO price")
        tour.do(f"ALTER TABLE {TABLE} ALTER COLUMN id TYPE BIGINT")
        tour.do(f"ALTER TABLE {TABLE} ALTER COLUMN price TYPE DOUBLE")
        tour.do(f"ALTER TABLE {TABLE} ALTER COLUMN price COMMENT 'in euro'")
        tour.do(f"ALTER TABLE {TABLE} ALTER COLUMN id DROP NOT NULL")
        tour.do(f"ALTER TABLE {TABLE} ALTER COLUMN kind AFTER id")
        tour.do(f"ALTER TABLE {TABLE} DROP COLUMN drop_me")
        assert tour.schema(TABLE) == [
            ("id", "bigint"), ("kind", "string"), ("at", "timestamp"), ("place", "struct<city:string,country:string>"),
            ("price", "double"), ("tags", "array<string>")], tour.schema(TABLE)
        comments = {row[0]: row[2] for row in tour.rows(f"DESCRIBE TABLE {TABLE}")}
        assert comments["kind"] == "what happened" and comments["price"] == "in euro", comments
        tour.do(f"INSERT INTO {TABLE} VALUES (NULL, 'sale', TIMESTAMP '2026-02-02 11:00:00', "
                "named_struct('city', 'Rome', 'country', 'it'), 2.5, array('a', 'b'))")
        tour.check(f"SELECT id, kind, place.city, place.country, price, tags FROM {TABLE} ORDER BY at",
                   (1, None, "Oslo", None, 1.5, None), (None, "sale", "Rome", "it", 2.5, ["a", "b"]))
        # A column of the same name is a new one: what the old one held does not come back.
        tour.do(f"ALTER TABLE {TABLE} ADD COLUMN drop_me INT")
        tour.check(f"SELECT DISTINCT drop_me FROM {TABLE}", (None,))
        tour.do(f"ALTER TABLE {TABLE} DROP COLUMN drop_me")
        tour.refused("NOT_SUPPORTED_CHANGE_COLUMN", f"ALTER TABLE {TABLE} ALTER COLUMN id TYPE INT")
        tour.do(f"UPDATE {TABLE} SET id = 2 WHERE id IS NULL")

    with tour.step("identifier fields"):
        tour.do("CREATE TABLE lake.sales.keyed (id BIGINT NOT NULL, part STRING NOT NULL, note STRING) USING iceberg")
        tour.do("ALTER TABLE lake.sales.keyed SET IDENTIFIER FIELDS id, part")
        names = set(tour.iceberg("lake.sales.keyed").schema().identifierFieldNames())
        assert names == {"id", "part"}, names
        tour.do("ALTER TABLE lake.sales.keyed DROP IDENTIFIER FIELDS part")
        assert set(tour.iceberg("lake.sales.keyed").schema().identifierFieldNames()) == {"id"}
        tour.do("DROP TABLE lake.sales.keyed")

    with tour.step("partition fields"):
        tour.do(f"ALTER TABLE {TABLE} ADD PARTITION FIELD days(at)")
        tour.do(f"ALTER TABLE {TABLE} ADD PARTITION FIELD bucket(4, id) AS shard")
        tour.do(f"INSERT INTO {TABLE} VALUES (3, 'sale', TIMESTAMP '2026-03-03 12:00:00', NULL, 3.5, NULL)")
        assert transforms() == ["days(at)", "bucket(4, id)"], transforms()
        tour.do(f"ALTER TABLE {TABLE} REPLACE PARTITION FIELD days(at) WITH months(at)")
        tour.do(f"ALTER TABLE {TABLE} DROP PARTITION FIELD shard")
        assert transforms() == ["months(at)"], transforms()
        tour.do(f"INSERT INTO {TABLE} VALUES (4, 'sale', TIMESTAMP '2026-04-04 12:00:00', NULL, 4.5, NULL)")
        tour.check(f"SELECT id FROM {TABLE} WHERE at >= TIMESTAMP '2026-03-01 00:00:00' ORDER BY id", (3,), (4,))
        tour.check(f"SELECT count(DISTINCT spec_id) FROM {TABLE}.files", (3,))
        tour.refused("shard", f"ALTER TABLE {TABLE} DROP PARTITION FIELD shard")

    with tour.step("write order"):
        tour.do(f"ALTER TABLE {TABLE} WRITE ORDERED BY kind ASC NULLS FIRST, bucket(8, id) DESC")
        assert order() == "kind ASC NULLS FIRST, bucket(8, id) DESC NULLS LAST", order()
        tour.do(f"ALTER TABLE {TABLE} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY at")
        assert order() == "at ASC NULLS FIRST", order()
        assert tour.properties(TABLE)["write.distribution-mode"] == "hash"
        tour.do(f"INSERT INTO {TABLE} VALUES (5, 'sale', TIMESTAMP '2026-04-05 12:00:00', NULL, 5.5, NULL)")
        tour.do(f"ALTER TABLE {TABLE} WRITE UNORDERED")
        assert order() is None, order()

    with tour.step("properties"):
        tour.do(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('write.target-file-size-bytes' = '1048576', "
                "'note' = 'a ''quoted'' one, é')")
        found = tour.properties(TABLE)
        assert found["write.target-file-size-bytes"] == "1048576" and found["note"] == "a 'quoted' one, é", found
        tour.do(f"ALTER TABLE {TABLE} UNSET TBLPROPERTIES ('note')")
        assert "note" not in tour.properties(TABLE)
        tour.do(f"COMMENT ON TABLE {TABLE} IS 'everything that happened'")
        assert ("Comment", "everything that happened", "") in tour.rows(f"DESCRIBE TABLE EXTENDED {TABLE}")
        tour.check(f"SELECT id FROM {TABLE} ORDER BY id", (1,), (2,), (3,), (4,), (5,))
        log = tour.rows(f"SELECT file FROM {TABLE}.metadata_log_entries")
        assert len(log) == len(set(log)) > 20, len(log)  # one metadata file for each change
