# Spark on one of several catalogs
#
# Two native catalogs in one mount table, each with a registry and a warehouse of its own. Run it with
#
#     icefield serve --config examples/spark/spark.hcl
#
# Spark sees each mount as a catalog of its own (warehouse = the mount's name), whose tables are one level up, and the whole
# tree as one more (no warehouse). Iceberg's runtime comes with --packages, and the catalogs with --conf:
#
#     spark-sql --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 \
#       --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions \
#       --conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog \
#       --conf spark.sql.catalog.lake.type=rest \
#       --conf spark.sql.catalog.lake.uri=http://127.0.0.1:8181 \
#       --conf spark.sql.catalog.lake.warehouse=lake
#
#     CREATE NAMESPACE lake.sales;
#     CREATE TABLE lake.sales.orders USING iceberg AS SELECT 1 AS id, 'eu' AS region;
#
# The same table is tree.lake.sales.orders in a catalog that is set up in the same way without the line "warehouse". The
# folder tour, beside this file, is what a team does with Spark, as programs that check the outcome of every statement.

server {
  listen = env("SPARK_LISTEN", "127.0.0.1:8181")
}

mount "lake" {
  backend            = "native"
  catalog_url        = "bolt://${env("SPARK_DATA", "data")}/lake.db"
  warehouse_location = "${env("SPARK_DATA", "data")}/lake"
  owner              = "acme"
}

mount "archive" {
  backend            = "native"
  catalog_url        = "bolt://${env("SPARK_DATA", "data")}/archive.db"
  warehouse_location = "${env("SPARK_DATA", "data")}/archive"
  owner              = "acme"
}
