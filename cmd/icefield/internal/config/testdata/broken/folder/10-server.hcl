server {
  name = "lake"
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "warehouse"
}
