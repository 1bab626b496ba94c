mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://same.db"
  warehouse_location = "s3://lake/warehouse"
}

mount "b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://./same.db"
  warehouse_location = "s3a://lake/warehouse/b"
}

mount "c" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://c.db"
  warehouse_location = "s3://lake/warehouse-c"
}
