server {
  secret_env = "SHORT"
}

mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://a.partner.example"
  token_env   = "UNSET_TOKEN"
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.partner.example"
  token_env   = "EMPTY"
}

mount "c" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://c.partner.example"
  token_env   = "eyJhbGciOiJub25lIn0.hunter2"
}

mount "d" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://d.partner.example"
  token       = "hunter2"
}

mount "e" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://e.partner.example"
  auth "bearer" {
    token_file = "no-such-file"
  }
}

mount "f" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://f.db"
  warehouse_location = "s3://lake/f"
  storage = {
    "s3.access-key-id"     = "AKIAHUNTER2"
    "s3.secret-access-key" = "hunter2"
  }
}
