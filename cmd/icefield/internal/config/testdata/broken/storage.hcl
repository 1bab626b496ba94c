mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "file:///srv/a"
  storage = {
    "s3.region" = "eu-central-1"
  }
}

mount "b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://b.db"
  warehouse_location = "s3://lake/b"
  storage = {
    region      = "eu-central-1"
    "s3.region" = null
  }
}
