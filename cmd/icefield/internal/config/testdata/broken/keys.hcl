auth {
  api_key "short" {
    tenant  = "acme"
    key_env = "SHORT"
  }
  api_key "blank" {
    tenant  = "acme"
    key_env = "LONG"
  }
  api_key "inline" {
    tenant = "acme"
    key    = "hunter2hunter2hunter2"
  }
  api_key "hash" {
    tenant = "acme"
    hash   = "hunter2hunter2hunter2"
  }
  api_key "two" {
    tenant   = "acme"
    key_env  = "KEY"
    key_file = "../good/api.key"
  }
  api_key "one" {
    tenant  = "acme"
    roles   = ["writer", "", "writer"]
    key_env = "KEY"
  }
  api_key "again" {
    tenant  = "acme"
    key_env = "KEY"
  }
  api_key "none" {
    roles = ["writer"]
  }
  api_key "boss" {
    operator = true
    roles    = ["writer"]
    key_file = "no-such.key"
  }
  api_key "one" {
    tenant  = "acme"
    key_env = "UNSET_KEY"
  }
  api_key "a/b" {
    tenant = "acme"
    hash   = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
  certificate "etl" {
    tenant   = "acme"
    dns_name = "*.acme.example"
    email    = "etl@acme.example"
  }
  certificate "none" {
    tenant = "acme"
  }
  api_keys "x" {}
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/prod.db"
  warehouse_location = "s3://prod/warehouse"
}
