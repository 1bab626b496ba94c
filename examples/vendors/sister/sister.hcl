# The catalog that another party runs: an Icefield with one native catalog under "/", on a port of its own.

server {
  name   = env("SISTER_NAME", "sister")
  listen = env("SISTER_LISTEN", "127.0.0.1:8182")
}

mount "/" {
  name               = "everything"
  backend            = "native"
  catalog_url        = "bolt://${env("SISTER_DATA", "data")}/catalog.db"
  warehouse_location = "${env("SISTER_DATA", "data")}/warehouse"
  owner              = "sister"
}
