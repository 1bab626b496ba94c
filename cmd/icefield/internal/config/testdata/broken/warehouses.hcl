mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "mysql://icefield:hunter2@db/prod"
  warehouse_location = "hdfs://lake/warehouse"
}

mount "b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://"
  warehouse_location = "s3://"
}

mount "c" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://c.db"
  warehouse_location = "file://warehouse"
}

mount "d" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://d.db"
  warehouse_location = "s3://lake/a/../b"
}

mount "e" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://e.db"
  warehouse_location = "/"
}

mount "f" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://f.db"
  warehouse_location = "s3:lake"
}
