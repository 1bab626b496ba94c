package config

import (
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/mounts"
)

// The defaults of the server block.
const (
	DefaultName           = "icefield"
	DefaultListen         = "127.0.0.1:8181"
	DefaultRequestTimeout = 30 * time.Second
	DefaultMaxBody        = 64 << 20
	DefaultMaxMemory      = 1 << 30
	DefaultShutdownGrace  = 20 * time.Second
)

// minSecret is the shortest secret that page tokens are sealed with, in bytes.
const minSecret = 16

var serverShape = shape{
	attrs:  []string{"name", "listen", "secret_env", "request_timeout", "max_body", "max_memory", "shutdown_grace", "trusted_proxies"},
	blocks: []hcl.BlockHeaderSchema{{Type: "tls"}, {Type: "rate_limit"}, {Type: "tenant_rate_limit"}, {Type: "login_lockout"}},
}

// server reads the server block; nil means defaults.
func (l *loader) server(block *hcl.Block) Server {
	s := Server{
		Name: DefaultName, Listen: Address{Network: "tcp", Address: DefaultListen},
		RequestTimeout: DefaultRequestTimeout, MaxBody: DefaultMaxBody, MaxMemory: DefaultMaxMemory, ShutdownGrace: DefaultShutdownGrace,
		LoginLockout: Lockout{Failures: DefaultLockoutFailures, Window: DefaultLockoutWindow},
	}
	if block == nil {
		return s
	}
	content := l.content(block.Body, serverShape)
	a := content.Attributes
	for _, b := range serverShape.blocks {
		l.once(content, b.Type)
	}
	if name := l.text(a["name"], ""); name != "" {
		if err := mounts.CheckName(name); err != nil {
			l.refuse(a["name"], "Invalid name", fmt.Sprintf("The server's name is the warehouse name of the whole tree, and follows the rules of a mount's: %v.", err))
		}
		s.Name = name
	}
	s.Listen = l.listen(a["listen"], s.Listen)
	if name := l.secretEnv(a["secret_env"]); name != "" {
		value, _ := l.lookup(name)
		if len(value) < minSecret {
			l.refuse(a["secret_env"], "Secret too short", fmt.Sprintf("The secret in %s has %d bytes; page tokens need one of at least %d.", name, len(value), minSecret))
		}
		s.SecretEnv, s.Secret = name, []byte(value)
	}
	s.RequestTimeout = l.duration(a["request_timeout"], s.RequestTimeout, time.Second, 10*time.Minute)
	s.MaxBody = l.size(a["max_body"], s.MaxBody, 64<<10, 1<<30)
	s.MaxMemory = l.size(a["max_memory"], s.MaxMemory, 16<<20, 1<<40)
	s.ShutdownGrace = l.duration(a["shutdown_grace"], s.ShutdownGrace, 0, 10*time.Minute)
	s.TLS = l.tls(l.one(content, "tls"))
	s.RateLimit, s.TenantRateLimit = l.rate(l.one(content, "rate_limit")), l.rate(l.one(content, "tenant_rate_limit"))
	s.TrustedProxies = l.proxies(a["trusted_proxies"])
	s.LoginLockout = l.lockout(l.one(content, "login_lockout"), s.LoginLockout)
	return s
}
