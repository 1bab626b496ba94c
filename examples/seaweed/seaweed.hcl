# A lake whose files nobody holds keys to
#
# SeaweedFS is a store of objects with an Iceberg REST catalog. It vends credentials for the files of one table at a time.
# Icefield logs in at the catalog, and relays those credentials to the clients that ask for them, which need neither a
# login at the catalog nor a key of the store:
#
#     weed mini -dir=data -s3.config=access.json -s3.iam.config=access.json -tableBucket=lake \
#          -s3.iceberg.credentialRole=arn:aws:iam::000000000000:role/Vend -s3.externalUrl=http://127.0.0.1:8333
#
#     export SEAWEED_SECRET=…            # the secret of the access key "icefield" in access.json
#     icefield check examples/seaweed/seaweed.hcl
#     icefield serve --config examples/seaweed/seaweed.hcl
#
#     from pyiceberg.catalog import load_catalog
#     lake = load_catalog("lake", uri="http://127.0.0.1:8280", warehouse="lake")
#     lake.load_table("sales.orders").scan().to_arrow()
#
# "go test -tags peers ./examples/seaweed" runs this file with a SeaweedFS of its own.

server {
  name   = "shore"
  listen = env("LAKE_LISTEN", "127.0.0.1:8280")
}

# Everything that SeaweedFS can do, and its credentials for those who ask.
mount "lake" {
  backend           = "rest"
  profile           = "seaweedfs"
  catalog_url       = env("SEAWEED_URL", "http://127.0.0.1:8181")
  warehouse         = "lake" # the table bucket
  owner             = "lake"
  read_only         = false
  credentials       = "forward"
  allowed_locations = ["s3://lake/"]
  auth "oauth2" { # at the remote's own token route
    client_id         = env("SEAWEED_KEY", "icefield")
    client_secret_env = "SEAWEED_SECRET"
  }
}

# The same for clients who have keys of their own: none passes here.
mount "sealed" {
  backend     = "rest"
  profile     = "seaweedfs"
  catalog_url = env("SEAWEED_URL", "http://127.0.0.1:8181")
  warehouse   = "lake"
  owner       = "lake"
  read_only   = false
  credentials = "withhold"
  auth "oauth2" {
    client_id         = env("SEAWEED_KEY", "icefield")
    client_secret_env = "SEAWEED_SECRET"
  }
}

# The same again, from when its tables were in another bucket: what has moved out of there is refused. This one signs its
# requests instead of asking for a token.
mount "fenced" {
  backend           = "rest"
  profile           = "seaweedfs"
  catalog_url       = env("SEAWEED_URL", "http://127.0.0.1:8181")
  warehouse         = "lake"
  owner             = "lake"
  allowed_locations = ["s3://pond/", "s3://lake/attic/"]
  auth "sigv4" {
    service               = "s3tables"
    region                = "us-east-1"
    access_key_id_env     = "SEAWEED_KEY"
    secret_access_key_env = "SEAWEED_SECRET"
  }
}
