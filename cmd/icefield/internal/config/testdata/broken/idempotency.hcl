mount "a" {
  backend              = "native"
  owner                = "acme"
  catalog_url          = "bolt:///srv/a.db"
  warehouse_location   = "/srv/a"
  idempotency_lifetime = "5s"
}

mount "b" {
  backend              = "native"
  owner                = "acme"
  catalog_url          = "bolt:///srv/b.db"
  warehouse_location   = "/srv/b"
  idempotency_lifetime = "48h"
}

mount "c" {
  backend              = "native"
  owner                = "acme"
  catalog_url          = "bolt:///srv/c.db"
  warehouse_location   = "/srv/c"
  idempotency_lifetime = "soon"
}

mount "d" {
  backend              = "rest"
  owner                = "acme"
  catalog_url          = "https://catalog.example"
  idempotency_lifetime = "30m"
}
