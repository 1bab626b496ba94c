"""DROP TABLE … PURGE, by the client and by the server. Either way the files of this table are gone, and no others."""

import os

from session import eventually, files


def run(tour):
    def table(name):
        tour.do(f"CREATE TABLE lake.sales.{name} USING iceberg PARTITIONED BY (part) TBLPROPERTIES ('format-version' = '2', "
                "'write.delete.mode' = 'merge-on-read') AS SELECT id, id % 3 AS part FROM range(30)")
        tour.do(f"DELETE FROM lake.sales.{name} WHERE id = 7")
        tour.do(f"CALL lake.system.compute_table_stats('sales.{name}')")
        tour.do(f"ALTER TABLE lake.sales.{name} SET TBLPROPERTIES ('a' = 'b')")
        folder = tour.location(f"lake.sales.{name}")
        found = {os.path.splitext(file)[1] for file in files(folder)}
        assert {".parquet", ".avro", ".json", ".stats"} <= found, found
        return folder

    with tour.step("drop table"):
        folder = table("dropped")
        before = files(folder)
        tour.do("DROP TABLE lake.sales.dropped")
        tour.refused("TABLE_OR_VIEW_NOT_FOUND", "SELECT * FROM lake.sales.dropped")
        assert files(folder) == before, "a plain drop touches no file"
        tour.refused("TABLE_OR_VIEW_NOT_FOUND", "DROP TABLE lake.sales.dropped")
        tour.do("DROP TABLE IF EXISTS lake.sales.dropped")

    for where, catalog in (("client", "lake"), ("server", "served")):
        with tour.step(f"purge by the {where}"):
            folder, other = table("purged"), table("beside")
            kept = files(other)
            tour.do(f"DROP TABLE {catalog}.sales.purged PURGE")
            tour.refused("TABLE_OR_VIEW_NOT_FOUND", "SELECT * FROM lake.sales.purged")
            eventually(lambda: not files(folder), lambda: f"these are left: {sorted(files(folder))}")
            assert files(other) == kept
            tour.check("SELECT count(*) FROM lake.sales.beside", (29,))
            tour.do("CREATE TABLE lake.sales.purged (id INT) USING iceberg")  # the name is free at once
            tour.check("SELECT * FROM lake.sales.purged")
            for name in ("purged", "beside"):
                tour.do(f"DROP TABLE lake.sales.{name}")
