server {
  listen = "lake.example.com:8181"
}

mount "partner" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example"
}
