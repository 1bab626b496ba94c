"""Table formats 1 and 3, and the way from one to the next."""

TABLE = "lake.sales.rows"


def run(tour):
    def version(table):
        return tour.properties(table)["format-version"]

    with tour.step("format 1, upgraded"):
        table = "lake.sales.first"
        tour.do(f"CREATE TABLE {table} (id INT) USING iceberg TBLPROPERTIES ('format-version' = '1')")
        tour.do(f"INSERT INTO {table} VALUES (1), (2)")
        assert version(table) == "1"
        for to in ("2", "3"):
            tour.do(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '{to}')")
            assert version(table) == to
            tour.do(f"DELETE FROM {table} WHERE id = {int(to) - 1}")
            tour.do(f"INSERT INTO {table} VALUES ({int(to) + 10})")
        tour.check(f"SELECT id FROM {table} ORDER BY id", (12,), (13,))
        tour.refused("downgrade", f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '2')")
        assert version(table) == "3"

    with tour.step("deletion vectors"):
        tour.do(f"""CREATE TABLE {TABLE} (id INT, note STRING) USING iceberg TBLPROPERTIES ('format-version' = '3',
            'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')""")
        tour.do(f"INSERT INTO {TABLE} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
        tour.do(f"DELETE FROM {TABLE} WHERE id = 2")
        tour.check(f"SELECT file_format, record_count FROM {TABLE}.delete_files", ("PUFFIN", 1))
        tour.do(f"DELETE FROM {TABLE} WHERE id = 3")
        tour.check(f"SELECT file_format, record_count FROM {TABLE}.delete_files", ("PUFFIN", 2))
        tour.check(f"SELECT id FROM {TABLE} ORDER BY id", (1,), (4,))

    with tour.step("row lineage"):
        tour.check(f"SELECT id, _row_id, _last_updated_sequence_number FROM {TABLE} ORDER BY id", (1, 0, 1), (4, 3, 1))
        tour.do(f"UPDATE {TABLE} SET note = 'e' WHERE id = 4")
        tour.do(f"INSERT INTO {TABLE} VALUES (5, 'new')")
        changed = tour.rows(f"SELECT id, _row_id, _last_updated_sequence_number FROM {TABLE} ORDER BY id")
        assert changed[:2] == [(1, 0, 1), (4, 3, 4)], changed  # a row that changes keeps its number
        assert changed[2][1] >= 4 and changed[2][2] == 5, changed
        assert tour.iceberg(TABLE).operations().current().nextRowId() > changed[2][1]

    with tour.step("default values"):
        types = tour.spark._jvm.org.apache.iceberg.types.Types
        literal = tour.spark._jvm.org.apache.iceberg.expressions.Expressions.lit
        tour.iceberg(TABLE).updateSchema().addColumn("grade", types.IntegerType.get(), literal(7)).commit()
        tour.do(f"REFRESH TABLE {TABLE}")
        tour.check(f"SELECT DISTINCT grade FROM {TABLE}", (7,))  # of rows that were written without it
        tour.do(f"INSERT INTO {TABLE} VALUES (6, 'set', 1), (7, 'unset', DEFAULT)")
        tour.check(f"SELECT id, grade FROM {TABLE} WHERE id > 5 ORDER BY id", (6, 1), (7, 7))
        tour.iceberg(TABLE).updateSchema().updateColumnDefault("grade", literal(8)).commit()
        tour.do(f"REFRESH TABLE {TABLE}")
        tour.do(f"INSERT INTO {TABLE} VALUES (8, 'unset', DEFAULT)")
        tour.check(f"SELECT id, grade FROM {TABLE} WHERE id IN (5, 7, 8) ORDER BY id", (5, 7), (7, 7), (8, 8))

    with tour.step("variant"):
        table = "lake.sales.documents"
        tour.do(f"CREATE TABLE {table} (id INT, body VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
        tour.do(f"""INSERT INTO {table} SELECT 1, parse_json('{{"who": "ann", "n": 12}}') UNION ALL SELECT 2, parse_json('[1, null]')""")
        tour.check(f"SELECT id, variant_get(body, '$.who', 'string'), to_json(body) FROM {table} ORDER BY id",
                   (1, "ann", '{"n":12,"who":"ann"}'), (2, None, "[1,null]"))
        assert tour.schema(table) == [("id", "int"), ("body", "variant")]
        tour.refused("v3", "CREATE TABLE lake.sales.no USING iceberg TBLPROPERTIES ('format-version' = '2') "
                           "AS SELECT parse_json('1') AS body")
