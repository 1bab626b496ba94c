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
