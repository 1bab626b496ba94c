server {
  name          = ["lake"]
  listen        = 8181
  max_body      = "0"
  shutdown_grace = "forever"
}

mount "a" {
  backend     = "rest"
  owner       = ""
  required    = "maybe"
  catalog_url = "https://a.partner.example"
  breaker {
    failures = 2.5
  }
  limit = 64
}

mount "b" {
  backend            = "native"
  owner              = "acme\nglobex"
  catalog_url        = "bolt://b.db"
  warehouse_location = "s3://lake/b"
  storage            = "s3.region"
}
