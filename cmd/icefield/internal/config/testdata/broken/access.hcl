server {
  listen          = "0.0.0.0:8181"
  trusted_proxies = ["10.0.0.1/8", "0.0.0.0/0", "proxy.example.com", "10.0.0.0/8", "10.0.0.0/8", "::ffff:10.0.0.0/104"]
  tls {
    cert_file = "no-such.crt"
    key_file  = "no-such.key"
    cafile    = "x"
  }
  rate_limit {
    burst = 0
  }
  tenant_rate_limit {
    requests_per_second = 0
  }
  login_lockout {
    failures = -1
    window   = "10"
  }
}

auth {
  oidc "corp" {
    issuer      = "http://idp.example.com"
    audiences   = ["icefield"]
    tenant      = "acme"
    tenant_claim = "tenant"
    roles_claim = "a..b"
    leeway      = "6m"
    algorithms  = ["none", "hs256", "RS265", "ES256"]
    ca_file     = "no-such.pem"
    token_relay = true
  }
  oidc "key" {
    issuer      = "https://admin:hunter2@idp.example.com"
    audience    = []
    token_relay = true
  }
  oidc "corp" {
    issuer   = "http://127.0.0.1:1"
    audience = ["icefield"]
    ca_file  = "../good/ca.pem"
    relay_scope = ""
  }
  oidc "same" {
    issuer       = "http://127.0.0.1:1"
    audience     = ["icefield"]
    tenant_claim = "a\\b"
  }
  anonymous {
    roles = ["reader", "reader"]
  }
}

mount "/" {
  backend     = "rest"
  catalog_url = "https://catalog.example.com"
}
