mount "folder" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/folder.db"
  warehouse_location = "/srv/folder"
  signing            = true
  vending "aws" {
    role_arn = "arn:aws:iam::123456789012:role/lake"
  }
}

mount "other" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/other.db"
  warehouse_location = "gs://other/warehouse"
  vending "aws" {
    role_arn              = "lake"
    duration              = "5m"
    region                = "EU"
    sts_endpoint          = "http://sts.example.com"
    access_key_id_env     = "LONG"
    session_token         = "hunter2"
  }
}

mount "minio" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/minio.db"
  warehouse_location = "s3://minio/warehouse"
  vending "aws" {
    role_arn = "arn:minio:iam:::role/lake"
  }
  vending "aws" {
  }
}

mount "kind" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/kind.db"
  warehouse_location = "s3://kind/warehouse"
  vending "asw" {}
}

mount "missing" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/missing.db"
  warehouse_location = "s3://missing/warehouse"
  vending "aws" {}
}

mount "through" {
  backend        = "rest"
  owner          = "acme"
  catalog_url    = "https://through.example.com"
  relayed_access = "read"
  auth "passthrough" {}
}

mount "withheld" {
  backend        = "rest"
  owner          = "acme"
  catalog_url    = "https://withheld.example.com"
  credentials    = "withhold"
  relayed_access = "read"
}

mount "relayed" {
  backend        = "rest"
  owner          = "acme"
  catalog_url    = "https://relayed.example.com"
  relayed_access = "all"
}

mount "azure" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/azure.db"
  warehouse_location = "abfss://lake@account.dfs.core.windows.net/azure"
  signing_bulk_delete = true
  vending "azure" {
    client_id = "icefield"
  }
}

mount "gcs" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/gcs.db"
  warehouse_location = "gs://gcs/warehouse"
  vending "gcs" {
    credentials_file = "no-such.json"
    duration         = "1h"
  }
}

mount "keys" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt:///srv/keys.db"
  warehouse_location = "s3://keys/warehouse"
  vending "aws" {
    role_arn = "arn:aws:iam::123456789012:role/lake"
    kms_keys = ["alias/lake"]
    ca_file  = "../good/ca.pem"
  }
}
