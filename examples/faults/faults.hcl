# One remote catalog, to which changes go, over a network that is not to be relied on.

server {
  listen = env("FAULTS_LISTEN", "127.0.0.1:8181")
}

mount "partner" {
  backend     = "rest"
  catalog_url = env("FAULTS_PARTNER", "http://127.0.0.1:8182")
  owner       = "acme"
  read_only   = false

  timeout {
    connect = "500ms"
    request = "1s"
  }
  breaker {
    failures = 20
    open_for = "50ms"
  }
}
