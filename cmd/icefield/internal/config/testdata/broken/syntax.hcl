mount "prod" { backend = "native" owner = "acme" }

mount "partner" {
  backend = "rest
}
