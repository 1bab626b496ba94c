mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://icefield:hunter2@db/prod"
  warehouse_location = "s3://lake/a"
}

mount "b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://icefield:hunter2@${env("HOST")}/prod"
  warehouse_location = "s3://lake/b"
}

mount "c" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://db/prod?user=icefield&password=hunter2"
  warehouse_location = "s3://lake/c"
}

mount "d" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://icefield:hun%ter2/@db/prod"
  warehouse_location = "s3://lake/d"
}

mount "e" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = env("BROKEN_DATABASE")
  warehouse_location = "s3://lake/e"
}

mount "f" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://icefield@db/prod?schema=pg_catalog"
  warehouse_location = "s3://lake/f"
}

mount "g" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://icefield@db/prod?sslmode=sometimes"
  warehouse_location = "s3://lake/g"
}

mount "h" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = env("DATABASE")
  warehouse_location = "s3://lake/h"
}

mount "i" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgresql://another@DB:5432/prod?sslmode=disable"
  warehouse_location = "s3://lake/i"
}

mount "j" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "postgres://another@db/prod?schema=j"
  warehouse_location = "s3://lake/j"
}
