# Several Icefields that are one catalog
#
# A native mount whose registry is a PostgreSQL database may be served by any number of processes at once, and each of
# them may die at any moment: they keep nothing of their own. Put a load balancer in front, or give each engine the one
# beside it. Start every replica with this file:
#
#     export DATABASE_URL=postgres://icefield:secret@db.example.com:5432/icefield
#     icefield serve --config examples/replicas/replicas.hcl
#
# The first one makes the tables that the registry needs, in a schema called "icefield", and the others wait for it.
#
# An engine that lost an answer may ask any replica again: with the same Idempotency-Key its change is made once, and it
# is answered what it would have been answered before.
#
# To move a registry from a file into the database, stop the server and run
#
#     icefield migrate --from bolt:///var/lib/icefield/catalog.db --to env:DATABASE_URL

server {
  name   = "lake"
  listen = env("ICEFIELD_LISTEN", "127.0.0.1:8181")
}

mount "prod" {
  backend            = "native"
  catalog_url        = env("DATABASE_URL")
  warehouse_location = "${env("ICEFIELD_DATA", "data")}/warehouse"
  owner              = "acme"
}
