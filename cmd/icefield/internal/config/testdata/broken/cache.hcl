server {
  max_memory = "1KiB"
}

mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://a.partner.example"
  cache {
    ttl           = "10s"
    stale_if_down = "1h"
    size          = "0"
  }
}

mount "b" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = "https://b.partner.example"
  cache {
    ttl      = "10"
    size     = 256
    coalesce = "yes"
    stale    = "1h"
  }
  cache {
    ttl = "0s"
  }
}

mount "c" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://c.db"
  warehouse_location = "file:///srv/c"
  cache {
    ttl = "1s"
  }
}
