# The same as audit.hcl, with the trail on the standard output, for whatever collects it from there. The server's own log is
# on standard error.
#
#     icefield serve --config examples/audit/stdout.hcl | collector

server {
  listen = env("AUDIT_LISTEN", "127.0.0.1:8585")
}

auth {
  api_key "operator" {
    operator = true
    key_env  = "AUDIT_OPERATOR"
  }
  api_key "admin" {
    tenant  = "acme"
    roles   = ["admin"]
    key_env = "AUDIT_ADMIN"
  }
}

audit {
  sink        = "stdout"
  fail_closed = env("AUDIT_FAIL_CLOSED", "true") == "true"
}

mount "lake" {
  backend            = "native"
  catalog_url        = "bolt://${env("AUDIT_DATA", "data")}/lake.db"
  warehouse_location = "${env("AUDIT_DATA", "data")}/warehouse"
  owner              = "acme"
}
