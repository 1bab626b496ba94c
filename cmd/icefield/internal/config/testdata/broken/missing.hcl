mount "one" {
}

mount "two" {
  backend = "native"
}

mount "three" {
  backend = "rest"
}
