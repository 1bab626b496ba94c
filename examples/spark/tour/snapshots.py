"""History: branches, tags, time travel, rollback, and the metadata tables that tell of it."""

TABLE = "lake.sales.stock"


def run(tour):
    def snapshots():
        return [row[0] for row in tour.rows(f"SELECT snapshot_id FROM {TABLE}.snapshots ORDER BY committed_at")]

    def refs():
        return {row[0]: row[1:] for row in tour.rows(f"SELECT name, type, snapshot_id, max_reference_age_in_ms, "
                                                     f"min_snapshots_to_keep, max_snapshot_age_in_ms FROM {TABLE}.refs")}

    def held(version=None):
        at = "" if version is None else f" VERSION AS OF {version}"
        return [row[0] for row in tour.rows(f"SELECT id FROM {TABLE}{at} ORDER BY id")]

    with tour.step("time travel"):
        tour.do(f"CREATE TABLE {TABLE} (id INT, item STRING) USING iceberg")
        for number in (1, 2, 3):
            tour.do(f"INSERT INTO {TABLE} VALUES ({number}, 'item {number}')")
        first, second, third = snapshots()
        assert [held(first), held(second), held(third), held()] == [[1], [1, 2], [1, 2, 3], [1, 2, 3]]
        at = tour.value(f"SELECT committed_at FROM {TABLE}.snapshots WHERE snapshot_id = {second}")
        tour.check(f"SELECT max(id) FROM {TABLE} TIMESTAMP AS OF '{at.isoformat(' ', 'milliseconds')}'", (2,))
        tour.refused("12345", f"SELECT * FROM {TABLE} VERSION AS OF 12345")

    with tour.step("tags"):
        tour.do(f"ALTER TABLE {TABLE} CREATE TAG `opening` AS OF VERSION {first} RETAIN 365 DAYS")
        tour.do(f"ALTER TABLE {TABLE} CREATE TAG latest")
        assert refs()["opening"] == ("TAG", first, 365 * 86400000, None, None), refs()
        assert held("'opening'") == [1] and held("'latest'") == [1, 2, 3]
        tour.do(f"ALTER TABLE {TABLE} REPLACE TAG opening AS OF VERSION {second}")
        assert held("'opening'") == [1, 2]
        tour.check(f"SELECT count(*) FROM {TABLE}.tag_latest", (3,))
        tour.do(f"ALTER TABLE {TABLE} DROP TAG latest")
        tour.refused("latest", f"SELECT * FROM {TABLE} VERSION AS OF 'latest'")

    with tour.step("branches"):
        tour.do(f"ALTER TABLE {TABLE} CREATE BRANCH audit AS OF VERSION {third} RETAIN 7 DAYS "
                "WITH SNAPSHOT RETENTION 2 SNAPSHOTS 3 DAYS")
        assert refs()["audit"] == ("BRANCH", third, 7 * 86400000, 2, 3 * 86400000), refs()
        tour.do(f"INSERT INTO {TABLE}.branch_audit VALUES (4, 'item 4')")
        tour.do(f"UPDATE {TABLE}.branch_audit SET item = 'corrected' WHERE id = 1")
        tour.do(f"DELETE FROM {TABLE}.branch_audit WHERE id = 2")
        assert held() == [1, 2, 3] and held("'audit'") == [1, 3, 4]
        tour.check(f"CALL lake.system.fast_forward('sales.stock', 'main', 'audit')", ("main", third, refs()["audit"][1]))
        assert held() == [1, 3, 4]
        tour.do(f"ALTER TABLE {TABLE} DROP BRANCH audit")
        assert set(refs()) == {"main", "opening"}, refs()
        tour.refused("audit", f"SELECT * FROM {TABLE} VERSION AS OF 'audit'")
        assert held() == [1, 3, 4]

    with tour.step("write, audit, publish"):
        tour.do(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
        tour.spark.conf.set("spark.wap.id", "load-7")
        tour.do(f"INSERT INTO {TABLE} VALUES (7, 'staged')")
        tour.spark.conf.unset("spark.wap.id")
        assert held() == [1, 3, 4]
        ((_, published),) = tour.rows("CALL lake.system.publish_changes('sales.stock', 'load-7')")
        assert held() == [1, 3, 4, 7] and refs()["main"][1] == published

    with tour.step("rollback"):
        before = snapshots()[-2]  # the staged one is a snapshot as well, and was the last one published
        current = refs()["main"][1]
        tour.check(f"CALL lake.system.rollback_to_snapshot('sales.stock', {second})", (current, second))
        assert held() == [1, 2] and snapshots()[-1] != second
        tour.check(f"CALL lake.system.set_current_snapshot('sales.stock', {current})", (second, current))
        assert held() == [1, 3, 4, 7], before
        tour.refused("12345", "CALL lake.system.rollback_to_snapshot('sales.stock', 12345)")

    with tour.step("metadata tables"):
        tour.check(f"SELECT count(*) FROM {TABLE}.snapshots", (len(snapshots()),))
        history = tour.rows(f"SELECT snapshot_id, is_current_ancestor FROM {TABLE}.history ORDER BY made_current_at")
        assert history[-1] == (current, True) and (second, True) in history, history
        tour.check(f"SELECT sum(record_count) FROM {TABLE}.files", (4,))
        for name in ("manifests", "entries", "partitions", "all_data_files", "all_manifests", "all_entries", "metadata_log_entries"):
            assert tour.value(f"SELECT count(*) FROM {TABLE}.{name}") > 0, name
        tour.do("CALL lake.system.create_changelog_view(table => 'sales.stock', "
                f"options => map('start-snapshot-id', '{first}', 'end-snapshot-id', '{third}'), changelog_view => 'stock_changes')")
        tour.check("SELECT id, _change_type FROM stock_changes ORDER BY id", (2, "INSERT"), (3, "INSERT"))
        tour.do("DROP VIEW stock_changes")
