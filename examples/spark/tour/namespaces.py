"""Namespaces, nested ones and their properties."""


def run(tour):
    with tour.step("namespaces"):
        tour.check("SHOW NAMESPACES IN lake")
        tour.do("CREATE NAMESPACE lake.sales COMMENT 'what was sold' WITH PROPERTIES ('team' = 'core')")
        tour.refused("SCHEMA_ALREADY_EXISTS", "CREATE NAMESPACE lake.sales")
        tour.do("CREATE NAMESPACE IF NOT EXISTS lake.sales")
        tour.do("ALTER NAMESPACE lake.sales SET PROPERTIES ('team' = 'platform', 'tier' = 'gold')")
        described = dict(tour.rows("DESCRIBE NAMESPACE EXTENDED lake.sales"))
        assert described["Comment"] == "what was sold", described
        assert "(team,platform)" in described["Properties"] and "(tier,gold)" in described["Properties"], described
        tour.do("ALTER NAMESPACE lake.sales UNSET PROPERTIES ('tier')")
        assert "tier" not in dict(tour.rows("DESCRIBE NAMESPACE EXTENDED lake.sales"))["Properties"]

    with tour.step("nested namespaces"):
        tour.do("CREATE NAMESPACE lake.sales.eu")
        tour.refused("SCHEMA_NOT_FOUND", "DROP NAMESPACE lake.nowhere")
        tour.do("CREATE TABLE lake.sales.eu.stores (id INT) USING iceberg")
        tour.check("SHOW NAMESPACES IN lake", ("sales",))
        tour.check("SHOW NAMESPACES IN lake.sales", ("sales.eu",))
        tour.check("SHOW TABLES IN lake.sales.eu", ("sales.eu", "stores", False))
        tour.check("SHOW TABLES IN lake.sales")
        tour.refused("not empty", "DROP NAMESPACE lake.sales.eu")
        tour.refused("not empty", "DROP NAMESPACE lake.sales")
        tour.do("DROP TABLE lake.sales.eu.stores")
        tour.do("DROP NAMESPACE lake.sales.eu")
        tour.check("SHOW NAMESPACES IN lake.sales")
        tour.refused("Namespace does not exist: sales.eu", "SHOW TABLES IN lake.sales.eu")
