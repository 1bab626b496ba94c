"""What keeps tables in order: Iceberg's procedures."""

import os

from session import files, path

TABLE = "lake.sales.clicks"


def run(tour):
    def data_files():
        return {path(row[0]) for row in tour.rows(f"SELECT file_path FROM {TABLE}.files")}

    with tour.step("rewrite data files"):
        tour.do(f"CREATE TABLE {TABLE} (id BIGINT, day DATE) USING iceberg PARTITIONED BY (day)")
        for number in range(6):
            tour.do(f"INSERT INTO {TABLE} SELECT id + {number * 10}, DATE '2026-05-01' FROM range(10)")
        small = data_files()
        ((rewritten, added, *_),) = tour.rows("CALL lake.system.rewrite_data_files(table => 'sales.clicks', "
                                              "options => map('min-input-files', '2'))")
        assert rewritten == len(small) >= 6 and added == 1, (rewritten, added, len(small))
        tour.check(f"SELECT count(*), count(DISTINCT id), max(id) FROM {TABLE}", (60, 60, 59))
        tour.check(f"SELECT operation FROM {TABLE}.snapshots ORDER BY committed_at DESC LIMIT 1", ("replace",))

    with tour.step("rewrite manifests"):
        tour.do(f"INSERT INTO {TABLE} VALUES (100, DATE '2026-05-02')")
        before = tour.value(f"SELECT count(*) FROM {TABLE}.manifests")
        ((rewritten, added),) = tour.rows("CALL lake.system.rewrite_manifests('sales.clicks')")
        after = tour.value(f"SELECT count(*) FROM {TABLE}.manifests")
        assert rewritten == before > after == added == 1, (before, rewritten, added, after)
        tour.check(f"SELECT count(*) FROM {TABLE}", (61,))

    with tour.step("statistics"):
        ((statistics,),) = tour.rows("CALL lake.system.compute_table_stats('sales.clicks')")
        assert os.path.exists(path(statistics)), statistics
        assert [path(f.path()) for f in tour.iceberg(TABLE).statisticsFiles()] == [path(statistics)]
        ((partitions,),) = tour.rows("CALL lake.system.compute_partition_stats('sales.clicks')")
        assert os.path.exists(path(partitions)), partitions
        assert [path(f.path()) for f in tour.iceberg(TABLE).partitionStatisticsFiles()] == [path(partitions)]

    with tour.step("expire snapshots"):
        assert all(os.path.exists(file) for file in small)
        ((*deleted, statistics_files),) = tour.rows("CALL lake.system.expire_snapshots(table => 'sales.clicks', "
                                                    "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1)")
        assert deleted[0] == len(small) and statistics_files == 0, (deleted, statistics_files)
        tour.check(f"SELECT count(*) FROM {TABLE}.snapshots", (1,))
        tour.check(f"SELECT count(*), max(id) FROM {TABLE}", (61, 100))
        assert not any(os.path.exists(file) for file in small)
        assert all(os.path.exists(file) for file in data_files())

    with tour.step("remove orphan files"):
        folder = tour.location(TABLE)
        orphan = os.path.join(folder, "data", "day=2026-05-01", "orphan.parquet")
        with open(orphan, "wb") as file:
            file.write(b"nobody names this file")
        os.utime(orphan, (0, 0))
        removed = {path(row[0]) for row in tour.rows("CALL lake.system.remove_orphan_files('sales.clicks')")}
        assert removed == {orphan} and orphan not in files(folder), removed
        tour.check(f"SELECT count(*), max(id) FROM {TABLE}", (61, 100))

    with tour.step("position deletes"):
        table = "lake.sales.ledger"  # which was written merge-on-read
        ((rewritten, *_),) = tour.rows("CALL lake.system.rewrite_position_delete_files(table => 'sales.ledger', "
                                       "options => map('rewrite-all', 'true'))")
        assert rewritten == 1, rewritten
        tour.check(f"SELECT count(*), sum(id) FROM {table}", (9, 42))

    with tour.step("register table"):
        metadata = tour.iceberg(TABLE).operations().current().metadataFileLocation()
        tour.do(f"DROP TABLE {TABLE}")
        assert os.path.exists(path(metadata)), "the files of a dropped table stay"
        tour.refused("TABLE_OR_VIEW_NOT_FOUND", f"SELECT * FROM {TABLE}")
        tour.do(f"CALL lake.system.register_table('sales.clicks', '{metadata}')")
        tour.check(f"SELECT count(*), max(id) FROM {TABLE}", (61, 100))
        tour.refused("lready exists", f"CALL lake.system.register_table('sales.clicks', '{metadata}')")
