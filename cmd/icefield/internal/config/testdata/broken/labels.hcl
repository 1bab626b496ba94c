mount {
  backend = "native"
}

mount "a" "b" {
  backend = "native"
}

server "main" {
}
