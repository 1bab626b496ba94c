# The mounts of the benchmark: one remote catalog, kept in three ways.

server {
  name   = "bench"
  listen = env("BENCH_LISTEN", "127.0.0.1:8181")
}

# Nothing is kept and nothing is shared: each load is a call.
mount "direct" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = env("BENCH_REMOTE")

  cache {
    size     = "0"
    coalesce = false
  }

  limit {
    in_flight = 1024
  }
}

# The default: each load is confirmed by the remote, and loads that wait share the answer.
mount "fresh" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = env("BENCH_REMOTE")

  limit {
    in_flight = 1024
  }
}

# The remote is asked once an hour.
mount "kept" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = env("BENCH_REMOTE")

  cache {
    ttl = "1h"
  }
}
