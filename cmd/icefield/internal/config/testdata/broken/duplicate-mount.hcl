mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "file:///srv/a"
}

mount "prod" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example"
}
