mount "partner" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example"
  read_only   = false
}
