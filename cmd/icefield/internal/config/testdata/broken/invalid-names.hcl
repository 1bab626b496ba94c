mount "-prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://a.db"
  warehouse_location = "file:///srv/a"
}

mount "a.b" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://b.db"
  warehouse_location = "file:///srv/b"
}

mount "namespaces" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://c.db"
  warehouse_location = "file:///srv/c"
}

mount "/" {
  name               = "config"
  backend            = "native"
  catalog_url        = "bolt://d.db"
  warehouse_location = "file:///srv/d"
}
