server {
  listen = "unix:icefield.sock"
}

mount "one" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://one.db"
  warehouse_location = "one"
}
