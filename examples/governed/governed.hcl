# A lake of two companies, and who of them may do what
#
# acme and globex keep their tables in one store that speaks S3 (SeaweedFS, whose token service holds sessions to their
# policy). Icefield alone has keys to it. People come with tokens of an OpenID issuer, programs with API keys; Cedar policies
# say who may do what, and whoever may read or write a table is handed keys that are good for that table alone and for
# minutes, or has requests signed one by one. Everything that is changed or handed out is written down first.
#
#     weed mini -dir=data -s3.config=access.json -s3.iam.config=access.json   # access.json: examples/internal/peers/seaweed
#
#     export GOVERNED_STORE=http://127.0.0.1:8333 GOVERNED_STORE_KEY=… GOVERNED_STORE_SECRET=…
#     export GOVERNED_ISSUER=https://idp.example.com/realms/corp   # whose tokens say "tenant" and "roles"
#     for who in ACME_ADMIN ACME_WRITER ACME_READER GLOBEX_ADMIN ENGINE; do export GOVERNED_$who=$(openssl rand -hex 24); done
#     icefield check examples/governed/governed.hcl
#     icefield policy test --config examples/governed/governed.hcl examples/governed/policies/decisions.hcl
#     icefield policy explain --config examples/governed/governed.hcl --principal corp/alice --tenant acme \
#          --action loadTable --resource lake.hr.payroll
#     icefield serve --config examples/governed/governed.hcl
#
#     from pyiceberg.catalog import load_catalog
#     lake = load_catalog("lake", uri="http://127.0.0.1:8383", warehouse="lake", credential="writer:…")
#     lake.create_namespace("sales")
#
# "go test -tags peers ./examples/governed" runs this file with a store and an issuer of its own, and with real clients.

server {
  name   = "governed"
  listen = env("GOVERNED_LISTEN", "127.0.0.1:8383")
  login_lockout {
    failures = 50 # the tests try wrong secrets, all from one address
    window   = "1m"
  }
}

auth {
  oidc "corp" {
    issuer       = env("GOVERNED_ISSUER", "https://idp.example.com/realms/corp")
    audience     = ["icefield"]
    tenant_claim = "tenant"
    roles_claim  = "roles"
    token_relay  = true # clients that know nothing but /v1/oauth/tokens get its tokens there
    relay_scope  = ""   # they ask for the scope "catalog", which issuers do not know
  }
  api_key "admin" {
    tenant  = "acme"
    roles   = ["admin"]
    key_env = "GOVERNED_ACME_ADMIN"
  }
  api_key "writer" {
    tenant  = "acme"
    roles   = ["writer"]
    key_env = "GOVERNED_ACME_WRITER"
  }
  api_key "reader" {
    tenant  = "acme"
    roles   = ["reader"]
    key_env = "GOVERNED_ACME_READER"
  }
  api_key "engine" { # of acme's support: restricted as its people are, and trusted to apply that itself
    tenant  = "acme"
    roles   = ["support"]
    key_env = "GOVERNED_ENGINE"
  }
  api_key "globex" {
    tenant  = "globex"
    roles   = ["admin"]
    key_env = "GOVERNED_GLOBEX_ADMIN"
  }
}

policy {
  files   = ["policies/*.cedar"]
  builtin = true # admin, writer and reader, each in the own tenant
}

tenant "acme" {
  policies = ["policies/acme/*.cedar"]
}

audit {
  sink        = "file"
  path        = "${env("GOVERNED_DATA", "data")}/audit.jsonl"
  fail_closed = true # what cannot be written down is not done
}

# Keys for one table at a time.
mount "lake" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://${env("GOVERNED_DATA", "data")}/lake.db"
  warehouse_location = "s3://governed/lake"
  storage = {
    "s3.endpoint"          = env("GOVERNED_STORE", "http://127.0.0.1:8333")
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("GOVERNED_STORE_KEY")
    "s3.secret-access-key" = env("GOVERNED_STORE_SECRET")
  }
  vending "aws" {
    role_arn     = "arn:aws:iam::000000000000:role/Vend"
    sts_endpoint = env("GOVERNED_STORE", "http://127.0.0.1:8333")
    duration     = "15m" # the shortest that token services give
  }
}

# No keys at all: requests are signed.
mount "signed" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://${env("GOVERNED_DATA", "data")}/signed.db"
  warehouse_location = "s3://governed/signed"
  storage = {
    "s3.endpoint"          = env("GOVERNED_STORE", "http://127.0.0.1:8333")
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("GOVERNED_STORE_KEY")
    "s3.secret-access-key" = env("GOVERNED_STORE_SECRET")
  }
  signing = true
}

# Keys for some seconds: another store, whose sessions end soon whatever was asked for.
mount "brief" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://${env("GOVERNED_DATA", "data")}/brief.db"
  warehouse_location = "s3://governed/brief"
  storage = {
    "s3.endpoint"          = env("GOVERNED_BRIEF_STORE", env("GOVERNED_STORE", "http://127.0.0.1:8333"))
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("GOVERNED_STORE_KEY")
    "s3.secret-access-key" = env("GOVERNED_STORE_SECRET")
  }
  vending "aws" {
    role_arn     = "arn:aws:iam::000000000000:role/Vend"
    sts_endpoint = env("GOVERNED_BRIEF_STORE", env("GOVERNED_STORE", "http://127.0.0.1:8333"))
    duration     = "15m"
  }
}

# The other company's.
mount "pond" {
  backend            = "native"
  owner              = "globex"
  catalog_url        = "bolt://${env("GOVERNED_DATA", "data")}/pond.db"
  warehouse_location = "s3://governed/pond"
  storage = {
    "s3.endpoint"          = env("GOVERNED_STORE", "http://127.0.0.1:8333")
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("GOVERNED_STORE_KEY")
    "s3.secret-access-key" = env("GOVERNED_STORE_SECRET")
  }
  vending "aws" {
    role_arn     = "arn:aws:iam::000000000000:role/Vend"
    sts_endpoint = env("GOVERNED_STORE", "http://127.0.0.1:8333")
    duration     = "15m"
  }
}
