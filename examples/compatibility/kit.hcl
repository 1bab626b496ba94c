# A native catalog for Iceberg's REST compatibility kit
#
# The kit puts some of its tables into folders directly below /tmp, so that this is the warehouse here. Run it by hand with
#
#     icefield serve --config examples/compatibility/kit.hcl
#
# and start the kit's suite, org.apache.iceberg.rest.RESTCompatibilityKitSuite, with the properties that kit_test.go gives it.

server {
  listen = env("KIT_LISTEN", "127.0.0.1:8181")
}

mount "kit" {
  backend            = "native"
  catalog_url        = env("KIT_REGISTRY", "bolt://data/kit.db")
  warehouse_location = "file:///tmp"
  metadata_cache     = env("KIT_METADATA_CACHE", "256MiB")
  owner              = "acme"
}
