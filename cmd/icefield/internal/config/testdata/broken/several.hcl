server {
  listen          = "0.0.0.0:8181"
  request_timeout = "30"
  max_body        = "64MBit"
}

mount "tables" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "file:///srv/a"
}

mount "prod" {
  backend = "nativ"
}

mount "partner" {
  backend     = "rest"
  catalog_url = "catalog.partner.example"
  breaker {
    failures = 0
    open_for = "1us"
  }
}
