server {
  name = "lake"
}

mount "lake" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://lake.partner.example"
}

mount "/" {
  name               = "prod"
  backend            = "native"
  catalog_url        = "bolt://root.db"
  warehouse_location = "file:///srv/root"
}

mount "prod" {
  name        = "production"
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://prod.partner.example"
}
