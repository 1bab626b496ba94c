servr {
  listen = "127.0.0.1:8181"
}

mounts "/" {
  backend = "native"
}
