server {
  listen = "lake.example.com:8181"
}

auth {
  certificate "etl" {
    tenant  = "acme"
    subject = "CN=etl"
  }
  certificate "again" {
    tenant  = "acme"
    subject = "CN=etl"
  }
  anonymous {
    tenant = "acme"
  }
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/prod.db"
  warehouse_location = "s3://prod/warehouse"
}
