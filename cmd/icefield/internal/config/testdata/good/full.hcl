server {
  name            = "lake"
  listen          = "127.0.0.1:8282"
  secret_env      = "LONG"
  request_timeout = "1m"
  max_body        = "128MiB"
  shutdown_grace  = "5s"
}

mount "/" {
  name               = "base"
  backend            = "native"
  catalog_url        = "bolt:///srv/root.db"
  warehouse_location = "/srv/root"
  required           = false
}

mount "prod" {
  backend            = "native"
  catalog_url        = env("CATALOG", "bolt:///srv/prod.db")
  warehouse_location = "s3://prod-bucket/warehouse/"
  owner              = "acme"
  read_only          = true
  metadata_cache     = "0"
  idempotency_lifetime = "1h"
  storage = {
    "s3.region"            = "eu-central-1"
    "s3.secret-access-key" = env("LONG")
  }
  timeout {
    request = "20s"
  }
  limit {
    in_flight = 8
  }
}

mount "partner" {
  backend     = "rest"
  catalog_url = "https://catalog.partner.example/api/catalog/"
  warehouse   = "sales"
  owner       = file("owner.txt")
  read_only   = true
  required    = false
  auth "oauth2" {
    token_url         = "https://idp.partner.example/token"
    client_id         = "icefield"
    client_secret_env = "LONG"
    scope             = "PRINCIPAL_ROLE:ALL"
  }
  timeout {
    connect = "2s"
    request = "10s"
  }
  breaker {
    failures = 3
    open_for = "1m30s"
  }
  limit {
    in_flight = 64
    response  = "1GiB"
  }
}

mount "file-token" {
  backend     = "rest"
  catalog_url = "http://127.0.0.1:8181/v1"
  owner       = "acme"
  auth "bearer" {
    token_file = "owner.txt"
  }
}

mount "short" {
  backend     = "rest"
  catalog_url = "http://catalog.partner.example"
  owner       = "acme"
  token_env   = "LONG"
}
