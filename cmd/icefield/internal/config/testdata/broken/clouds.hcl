mount "a" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "gs://lake/a"
  storage = {
    "s3.region"                   = "eu-central-1"
    "gcs.noauth"                  = "true"
    "gcs.no-auth"                 = "yes"
    "gcs.oauth2.token"            = "hunter2"
    "gcs.oauth2.token-expires-at" = "1893456000000"
    "gcs.jsonkey"                 = "{\"private_key\": \"hunter2\"}"
  }
}

mount "b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://b.db"
  warehouse_location = "abfss://lake@account.dfs.core.windows.net/b"
  storage = {
    "adls.auth.shared-key.account.name"      = "account"
    "adls.auth.shared-key.account.key"       = "aHVudGVyMg=="
    "adls.sas-token.account"                 = "sig=hunter2"
    "adls.sas-token."                        = env("TOKEN")
    "adls.connection-string.account"         = "AccountName=account;AccountKey=hunter2"
    "gcs.no-auth"                            = "true"
  }
}

mount "c" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://c.db"
  warehouse_location = "wasb://lake@account.blob.core.windows.net/b/c"
}

mount "d" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://d.db"
  warehouse_location = "abfss://account.dfs.core.windows.net/d"
}

mount "e" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://e.db"
  warehouse_location = "gs://Lake/e"
}

mount "f" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://f.db"
  warehouse_location = "gs://lake"
}
