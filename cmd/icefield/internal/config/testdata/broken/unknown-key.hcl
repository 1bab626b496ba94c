mount "prod" {
  backend            = "native"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "file:///srv/prod"
  ownr               = "acme"
}
