# A catalog that does nothing that it cannot write down
#
#     export AUDIT_OPERATOR=$(openssl rand -hex 24) AUDIT_ADMIN=$(openssl rand -hex 24)
#     icefield serve --config examples/audit/audit.hcl
#     tail -f data/audit/audit.jsonl
#
# Each change is in the trail before it is made; when the trail cannot be written, changes are refused and reads go on. With
# fail_closed = false changes go on too, and what is lost is counted, in the metric icefield_audit_events_total and in the
# trail itself. stdout.hcl, beside this file, writes the trail to the standard output.

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
  sink        = "file"
  path        = env("AUDIT_PATH", "${env("AUDIT_DATA", "data")}/audit/audit.jsonl")
  fail_closed = env("AUDIT_FAIL_CLOSED", "true") == "true"
  max_size    = env("AUDIT_MAX_SIZE", "100MiB") # then audit.jsonl.1, audit.jsonl.2 …
  keep        = 1000
}

mount "lake" {
  backend            = "native"
  catalog_url        = "bolt://${env("AUDIT_DATA", "data")}/lake.db"
  warehouse_location = "${env("AUDIT_DATA", "data")}/warehouse"
  owner              = "acme"
}
