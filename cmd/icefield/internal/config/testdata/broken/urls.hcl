mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://admin:hunter2@catalog.partner.example"
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "ftp://catalog.partner.example"
}

mount "c" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example?warehouse=sales"
}

mount "d" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https:///catalog"
}

mount "e" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "http://catalog.partner.example:port"
}

mount "f" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example:99999"
}

mount "g" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example/api/%2E%2E/catalog"
}

mount "h" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example/api/v1/config"
}
