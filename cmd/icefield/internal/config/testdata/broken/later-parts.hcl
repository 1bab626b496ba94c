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
  vending "aws" {
    duration = "1h"
  }
}
