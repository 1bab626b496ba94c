server {
  name = "one"
}

server {
  name = "two"
}

mount "partner" {
  backend     = "rest"
  owner       = "acme"
  owner       = "other"
  catalog_url = "https://catalog.partner.example"
  timeout {
    request = "5s"
  }
  timeout {
    request = "6s"
  }
  auth "none" {}
  auth "bearer" {
    token_env = "TOKEN"
  }
  token_env = "TOKEN"
}
