# Three remote catalogs, of which one may hang and one may fail without costing the third anything.

server {
  listen     = env("ISOLATION_LISTEN", "127.0.0.1:8181")
  max_memory = "64MiB"
}

mount "healthy" {
  backend     = "rest"
  catalog_url = env("ISOLATION_HEALTHY", "http://127.0.0.1:8182")
  owner       = "acme"

  timeout {
    request = "20s" # a machine that is busy with other things is no fault
  }
}

mount "hanging" {
  backend     = "rest"
  catalog_url = env("ISOLATION_HANGING", "http://127.0.0.1:8183")
  owner       = "acme"

  timeout {
    connect = "500ms"
    request = "1s"
  }
  breaker {
    failures = 5
    open_for = "1s"
  }
  limit {
    in_flight = 64
  }
}

mount "failing" {
  backend     = "rest"
  catalog_url = env("ISOLATION_FAILING", "http://127.0.0.1:8184")
  owner       = "acme"

  timeout {
    connect = "500ms"
    request = "1s"
  }
  breaker {
    failures = 5
    open_for = "1s"
  }
  limit {
    in_flight = 64
  }
}
