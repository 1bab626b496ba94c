server {
  request_timeout = "10s"
}

mount "partner" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example"
  timeout {
    connect = "12s"
    request = "9s"
  }
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "file:///srv/prod"
  timeout {
    request = soon
  }
}
