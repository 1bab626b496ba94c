mount "/" {
  backend            = "native"
  catalog_url        = "bolt://catalog.db"
  warehouse_location = "./warehouse"
}
