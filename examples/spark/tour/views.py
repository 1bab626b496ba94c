"""Views, which are Iceberg's own: Spark keeps their text, their columns and their history in the catalog."""

VIEW = "lake.sales.open_orders"


def run(tour):
    with tour.step("create view"):
        tour.do(f"""CREATE VIEW {VIEW} (number COMMENT 'of the order', worth) COMMENT 'not paid yet'
            TBLPROPERTIES ('team' = 'core') AS SELECT id, amount FROM lake.sales.orders WHERE state = 'open'""")
        tour.check(f"SELECT * FROM {VIEW}", (8, 80))
        assert tour.schema(VIEW) == [("number", "int"), ("worth", "int")]
        assert tour.properties(VIEW)["team"] == "core"
        assert ("Comment", "not paid yet", "") in tour.rows(f"DESCRIBE TABLE EXTENDED {VIEW}")
        tour.refused("VIEW_ALREADY_EXISTS", f"CREATE VIEW {VIEW} AS SELECT 1 AS id")
        tour.do(f"CREATE VIEW IF NOT EXISTS {VIEW} AS SELECT 1 AS id")
        tour.check("SHOW VIEWS IN lake.sales", ("sales", "open_orders", False))
        tour.check("SHOW VIEWS IN lake.sales LIKE 'nothing*'")

    with tour.step("view of the current namespace"):
        tour.do("USE lake.sales")
        tour.do("CREATE VIEW paid_orders AS SELECT id FROM orders WHERE state = 'paid'")  # no name is qualified
        tour.do("USE lake")
        tour.check("SELECT * FROM lake.sales.paid_orders ORDER BY id", (1,), (2,), (3,))

    with tour.step("create or replace view"):
        tour.do(f"CREATE OR REPLACE VIEW {VIEW} TBLPROPERTIES ('team' = 'core') AS SELECT id, region FROM lake.sales.orders "
                "WHERE state = 'open'")
        tour.check(f"SELECT * FROM {VIEW}", (8, "eu"))
        assert tour.schema(VIEW) == [("id", "int"), ("region", "string")]
        view = tour.view("sales", "open_orders")
        assert view.currentVersion().versionId() == 2 and view.history().size() == 2, view.history()
        tour.do(f"CREATE OR REPLACE VIEW lake.sales.made AS SELECT 1 AS one")  # creates it
        tour.check("SELECT * FROM lake.sales.made", (1,))

    with tour.step("alter view"):
        tour.do(f"ALTER VIEW {VIEW} SET TBLPROPERTIES ('tier' = 'gold', 'team' = 'platform')")
        found = tour.properties(VIEW)
        assert (found["tier"], found["team"]) == ("gold", "platform"), found
        tour.do(f"ALTER VIEW {VIEW} UNSET TBLPROPERTIES ('tier')")
        assert "tier" not in tour.properties(VIEW)
        tour.do(f"ALTER VIEW {VIEW} RENAME TO lake.sales.pending")
        tour.check("SELECT * FROM lake.sales.pending", (8, "eu"))
        tour.refused("NOT_FOUND", f"SELECT * FROM {VIEW}")
        text = tour.value("SHOW CREATE TABLE lake.sales.pending")
        assert "WHERE state = 'open'" in text and "'team' = 'platform'" in text, text

    with tour.step("tables and views share names"):
        tour.refused("ALREADY_EXISTS", "CREATE VIEW lake.sales.orders AS SELECT 1 AS id")
        tour.refused("ALREADY_EXISTS", "CREATE TABLE lake.sales.pending (id INT) USING iceberg")
        tour.refused("ALREADY_EXISTS", "ALTER VIEW lake.sales.pending RENAME TO lake.sales.orders")
        tour.refused("ALREADY_EXISTS", "ALTER TABLE lake.sales.orders RENAME TO sales.pending")
        tour.check("SELECT count(*) FROM lake.sales.orders", (4,))

    with tour.step("drop view"):
        for name in ("pending", "paid_orders", "made"):
            tour.do(f"DROP VIEW lake.sales.{name}")
        tour.check("SHOW VIEWS IN lake.sales")
        tour.refused("VIEW_NOT_FOUND", "DROP VIEW lake.sales.pending")
        tour.do("DROP VIEW IF EXISTS lake.sales.pending")
