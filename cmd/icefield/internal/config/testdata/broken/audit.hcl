audit {
  sink        = "none"
  path        = "audit.jsonl"
  fail_closed = true
  max_size    = "1KiB"
  keep        = 0
  queue       = 0
}

server {
  tenant_rate_limit {
    requests_per_second = 10
  }
  login_lockout {
    failures = 3
  }
}

policy {
  files = ["policies/*.cedar"]
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/prod.db"
  warehouse_location = "s3://prod/warehouse"
}
