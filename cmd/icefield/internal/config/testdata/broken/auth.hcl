mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://a.partner.example"
  auth "oauth" {
    token_url = "https://idp.partner.example/token"
  }
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.partner.example"
  auth "bearer" {
  }
}

mount "c" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://c.partner.example"
  auth "oauth2" {
    token_url     = "idp.partner.example"
    client_secret = "hunter2"
  }
}

mount "d" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://d.partner.example"
  auth "bearer" {
    token_env  = "TOKEN"
    token_file = "token"
  }
}

mount "e" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://e.partner.example"
  auth {
    token_env = "TOKEN"
  }
}
