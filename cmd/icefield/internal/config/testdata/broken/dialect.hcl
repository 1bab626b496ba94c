mount "a" {
  backend             = "rest"
  owner               = "acme"
  catalog_url         = "https://a.partner.example"
  profile             = "polariss"
  namespace_separator = "/"
  namespace_levels    = 0
  settings_refresh    = "10ms"
  quirks {
    throttles_with_400 = "often"
    misses_lists       = true
  }
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.partner.example"
  profile     = "somebody"
  quirks {
  }
  quirks {
  }
  headers = ["Polaris-Realm"]
}

mount "c" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://c.partner.example"
  headers = {
    Authorization   = "Bearer hunter2"
    "X-Api-Key"     = "hunter2"
  }
}

mount "d" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://d.partner.example"
  headers = {
    Host            = "elsewhere.example"
    "Polaris Realm" = "sales"
    "Polaris-Realm" = "sales"
    "polaris-realm" = "sales"
    "X-Empty"       = ""
    "X-Lines"       = "one\r\ntwo"
    "x-request-id"  = "1"
  }
}

mount "e" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://e.partner.example"
  profile     = "lakekeeper"
  auth "oauth2" {
    client_id         = "icefield"
    client_secret_env = "TOKEN"
  }
}
