mount "a" {
  backend     = "rest"
  owner       = "acme"
  catalog_url = env("UNSET_URL")
}

mount "b" {
  backend     = "rest"
  owner       = file("no-such-file")
  catalog_url = "https://${envv("HOST")}/catalog"
}

mount "c" {
  backend     = "rest"
  owner       = acme
  catalog_url = env("SECRET_URL")
}

mount "d" {
  backend     = "rest"
  owner       = env("OWNER", "a", "b")
  catalog_url = file("/dev/zero")
}
