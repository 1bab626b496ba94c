# One URL over several catalogs
#
# One namespace tree over a catalog of our own and those that two other parties run:
#
#     prod.…        ->  a native catalog, with its own registry and warehouse
#     partner.…     ->  Iceberg's own Java REST server, behind its warehouse "sales"
#     sister.…      ->  a second Icefield, behind a gate that demands a bearer token
#     anything else ->  the native catalog underneath
#
# To run it, start the two others first. The second Icefield is in sister/sister.hcl:
#
#     icefield serve --config examples/vendors/sister/sister.hcl
#
# Iceberg's Java server is fetched and started by the test, and any other Iceberg REST catalog does as well. It serves on
# http://127.0.0.1:8183 here, or name another place in PARTNER_URL; a partner that is not there does not keep the others
# from being served. Then:
#
#     export SISTER_TOKEN=anything       # the second Icefield itself has no login; the gate in the test has one
#     icefield check examples/vendors/lake.hcl
#     icefield serve --config examples/vendors/lake.hcl
#
#     from pyiceberg.catalog import load_catalog
#     tree = load_catalog("lake", uri="http://127.0.0.1:8181")
#     tree.list_namespaces()             # prod, partner, sister, and what lies underneath
#     tree.load_table("partner.shared.customers").scan().to_arrow()
#
# Each mount is also a catalog of its own, one level up, with everything that this mount can do:
#
#     prod = load_catalog("prod", uri="http://127.0.0.1:8181", warehouse="prod")
#     prod.load_table("sales.orders")
#
# "go test ./examples/vendors" runs this file with nothing but Go, with a third Icefield as the partner;
# "go test -tags peers ./examples/vendors" runs it with the Java server, PyIceberg, DuckDB and Iceberg's Java client.

server {
  name            = "lake"
  listen          = env("LAKE_LISTEN", "127.0.0.1:8181")
  request_timeout = "20s"
}

mount "/" {
  name               = "root"
  backend            = "native"
  catalog_url        = "bolt://${env("LAKE_DATA", "data")}/root.db"
  warehouse_location = "${env("LAKE_DATA", "data")}/root"
  owner              = "acme"
}

mount "prod" {
  backend            = "native"
  catalog_url        = "bolt://${env("LAKE_DATA", "data")}/prod.db"
  warehouse_location = "${env("LAKE_DATA", "data")}/prod"
  owner              = "acme"
}

mount "partner" {
  backend     = "rest"
  catalog_url = env("PARTNER_URL", "http://127.0.0.1:8183")
  warehouse   = "sales"
  owner       = "partner"
  required    = false # served as "unavailable" until it is there; everything else works meanwhile
  timeout {
    connect = "1s"
    request = "2s"
  }
  breaker {
    failures = 3
    open_for = "3s"
  }
}

mount "sister" {
  backend     = "rest"
  catalog_url = env("SISTER_URL", "http://127.0.0.1:8182")
  owner       = "sister"
  auth "bearer" {
    token_env = "SISTER_TOKEN"
  }
}
