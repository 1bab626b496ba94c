mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://prod.db"
  warehouse_location = "s3://prod-bucket/warehouse"
  allowed_locations  = ["s3://prod-bucket/"]
}

mount "a" {
  backend           = "rest"
  owner             = "acme"
  catalog_url       = "https://a.partner.example"
  credentials       = "forwards"
  ca_file           = "none.pem"
  allowed_locations = ["partner-lake", "s3://", "s3://partner-lake/a/../b", "s3://partner-lake//b", "s3://partner-lake/?x"]
}

mount "b" {
  backend           = "rest"
  owner             = "acme"
  catalog_url       = "https://b.partner.example"
  credentials       = "none"
  ca_file           = "trust.hcl"
  allowed_locations = []
}

mount "c" {
  backend           = "rest"
  owner             = "acme"
  catalog_url       = "http://127.0.0.1:9"
  ca_file           = "../good/ca.pem"
  allowed_locations = ["s3://prod-bucket/warehouse/sales", "s3://partner-lake/"]
}

mount "d" {
  backend           = "rest"
  owner             = "acme"
  catalog_url       = "https://d.partner.example"
  allowed_locations = "s3://partner-lake/"
}
