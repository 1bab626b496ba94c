"""Two mounts at once, and the tree that holds both."""


def run(tour):
    with tour.step("from one mount to another"):
        tour.do("CREATE NAMESPACE archive.y2026")
        tour.do("CREATE TABLE archive.y2026.orders USING iceberg AS SELECT * FROM lake.sales.orders WHERE state = 'paid'")
        tour.check("SELECT count(*) FROM archive.y2026.orders AS a JOIN lake.sales.orders AS o ON a.id = o.id", (3,))
        tour.do("MERGE INTO lake.sales.orders AS o USING archive.y2026.orders AS a ON o.id = a.id WHEN MATCHED THEN DELETE")
        tour.check("SELECT id FROM lake.sales.orders", (8,))
        tour.check("SHOW NAMESPACES IN archive", ("y2026",))

    with tour.step("the tree"):
        tour.check("SHOW NAMESPACES IN tree", ("archive",), ("lake",))
        tour.check("SHOW NAMESPACES IN tree.archive", ("archive.y2026",))
        tour.check("SELECT count(*) FROM tree.archive.y2026.orders", (3,))
        tour.do("INSERT INTO tree.lake.sales.orders VALUES (9, 'eu', 'open', 90)")
        tour.check("SELECT id FROM lake.sales.orders ORDER BY id", (8,), (9,))
        count = tour.value("SELECT count(*) FROM lake.sales.orders.snapshots")
        tour.check("SELECT count(*) FROM tree.lake.sales.orders.snapshots", (count,))
        tour.do("CREATE TABLE tree.archive.y2026.copy USING iceberg AS SELECT * FROM tree.lake.sales.orders")
        tour.check("SELECT id FROM archive.y2026.copy ORDER BY id", (8,), (9,))

    with tour.step("views in the tree"):
        tour.do("USE tree.lake.sales")
        tour.do("CREATE VIEW tree.lake.sales.small AS SELECT id FROM orders WHERE amount < 85")
        tour.do("USE lake")
        tour.check("SELECT * FROM tree.lake.sales.small", (8,))  # where orders is tree.lake.sales.orders
        tour.check("SELECT * FROM lake.sales.small", (8,))  # and here it is lake.sales.orders
        tour.check("SHOW VIEWS IN tree.lake.sales", ("lake.sales", "small", False))
        tour.do("DROP VIEW tree.lake.sales.small")
        tour.check("SHOW VIEWS IN lake.sales")

    with tour.step("what does not cross mounts"):
        tour.refused("a rename cannot cross mounts", "ALTER TABLE tree.lake.sales.orders RENAME TO archive.y2026.moved")
        tour.check("SELECT id FROM lake.sales.orders ORDER BY id", (8,), (9,))
        tour.refused("NOT_FOUND", "SELECT * FROM tree.archive.y2026.moved")
