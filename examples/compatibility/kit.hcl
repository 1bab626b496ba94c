# A native catalog for Iceberg's REST compatibility kit
#
# The kit is run against the mount as a catalog of its own (warehouse "kit"), and against the tree in which it lies underneath
# (warehouse "icefield", the server's name). Some of the kit's tables are in folders directly below /tmp, so that this is the
# mount's warehouse. Run it by hand with
#
#     icefield serve --config examples/compatibility/kit.hcl
#
# and start the kit's suite, org.apache.iceberg.rest.RESTCompatibilityKitSuite, with the properties that kit_test.go gives it.

server {
  listen = env("KIT_LISTEN", "127.0.0.1:8181")
}

mount "/" {
  name               = "kit"
  backend            = "native"
  catalog_url        = env("KIT_REGISTRY", "bolt://data/kit.db")
  warehouse_location = "file:///tmp"
  metadata_cache     = env("KIT_METADATA_CACHE", "256MiB")
  owner              = "acme"
}
