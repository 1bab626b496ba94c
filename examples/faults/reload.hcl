# The part of a mount table that stays while the rest of it is rewritten again and again.

server {
  name   = "lake"
  listen = env("RELOAD_LISTEN", "127.0.0.1:8181")
}

mount "/" {
  name               = "root"
  backend            = "native"
  catalog_url        = "bolt://${env("RELOAD_DATA", "data")}/catalog.db"
  warehouse_location = "${env("RELOAD_DATA", "data")}/warehouse"
  owner              = "acme"
}

mount "steady" {
  backend     = "rest"
  catalog_url = env("RELOAD_STEADY", "http://127.0.0.1:8182")
  owner       = "acme"
}

mount "books" {
  backend     = "rest"
  catalog_url = env("RELOAD_BOOKS", "http://127.0.0.1:8183")
  owner       = "acme"
  read_only   = false
}
