# Icefield alone, as the catalog itself
#
# One native mount under "/": its registry is a file, its warehouse a folder (or "s3://bucket/prefix"). Run it with
#
#     icefield serve --config examples/embedded/embedded.hcl
#
# and point an engine at http://127.0.0.1:8181, without a warehouse:
#
#     from pyiceberg.catalog import load_catalog
#     catalog = load_catalog("icefield", uri="http://127.0.0.1:8181")
#     catalog.create_namespace("sales")
#
# The registry may be held by one process at a time. Killing that process loses nothing that a client was told is done.
# lifecycle.py, beside this file, is a tour of what the catalog does, as a PyIceberg program that asserts each step.

server {
  listen = env("ICEFIELD_LISTEN", "127.0.0.1:8181")
}

mount "/" {
  name               = "root"
  backend            = "native"
  catalog_url        = "bolt://${env("ICEFIELD_DATA", "data")}/catalog.db"
  warehouse_location = "${env("ICEFIELD_DATA", "data")}/warehouse"
  owner              = "acme"
}
