mount "prod" {
  bakend             = "native"
  owner              = "acme"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "file:///srv/prod"
}

mount "partner" {
  backend     = "rest"
  owner       = "acme"
  catalog_ur  = "https://catalog.partner.example"
  time_out {
    request = "5s"
  }
  breaker {
    failure = 3
  }
  auth "oauth2" {
    token_url        = "https://idp.partner.example/token"
    client-id        = "icefield"
    client_secret_en = "TOKEN"
  }
}
