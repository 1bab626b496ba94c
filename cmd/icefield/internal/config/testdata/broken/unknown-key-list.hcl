server {
  listen  = "127.0.0.1:8181"
  flavour = "vanilla"
}

mount "/" {
  backend            = "native"
  catalog_url        = "bolt://root.db"
  warehouse_location = "./warehouse"
}
