mount "partner" {
  backend            = "rest"
  owner              = "acme"
  catalog_url        = "https://catalog.partner.example"
  warehouse_location = "s3://bucket/warehouse"
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "file:///srv/prod"
  token_env          = "TOKEN"
  timeout {
    connect = "2s"
  }
  limit {
    response = "1MiB"
  }
}
