mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://a.partner.example"
  auth "sigv4" {
    service           = "Glue"
    role_arn          = "lake"
    access_key_id_env = "TOKEN"
    sts_endpoint      = "sts.example.com"
    secret_access_key = "hunter2"
  }
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.partner.example"
  auth "sigv4" {
    service               = "s3tables"
    region                = "eu-central-1"
    external_id_env       = "TOKEN"
    secret_access_key_env = "UNSET"
    session_token_env     = "hunter2"
    sts_endpoint          = "https://sts.example.com"
  }
}

mount "c" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "http://c.partner.example"
  auth "passthrough" {
    token_env = "TOKEN"
  }
}

mount "d" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "http://d.partner.example"
  auth "exchange" {
    client_secret_env  = "TOKEN"
    client_secret_file = "token"
    basic              = true
  }
}

mount "e" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://e.partner.example"
  auth "oauth2" {
    token_url         = "http://idp.partner.example/token"
    client_id         = "icefield"
    client_secret_env = "TOKEN"
    basic             = "perhaps"
    audiences         = "catalog"
  }
}

mount "f" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://f.partner.example"
  auth "passthru" {
  }
}

mount "g" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://g.partner.example"
  auth "sigv4" {
    region = "eu-central-1"
  }
}

mount "unsigned" {
  backend     = "rest"
  owner       = "acme"
  profile     = "glue"
  catalog_url = "https://glue.eu-central-1.amazonaws.com/iceberg"
}
