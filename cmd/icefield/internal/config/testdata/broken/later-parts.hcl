server {
  public_url = "https://lake.example.com"
  tls {
    cert_file = "/etc/icefield/tls.crt"
  }
}

policy {
  files = ["policies/*.cedar"]
}

mount "partner" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://catalog.partner.example/api/catalog"
  profile     = "polaris"
  cache {
    ttl = "0s"
  }
}
