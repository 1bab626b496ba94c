auth {}

policy {
  builtin = false
}

policy {
  files = ["policies/[a.cedar", "", "policies/*.cedar"]
  file  = "x"
}

tenant "acm" {
  policies = []
}

tenant "acm" {
}

tenant {
  policies = ["x"]
}

audit {
  sink     = "fiel"
  path     = "x"
}

audit {
  sink = "stdout"
}

mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/prod.db"
  warehouse_location = "s3://prod/warehouse"
}
