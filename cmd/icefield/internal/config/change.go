package config

import (
	"bytes"
	"reflect"
)

// Equal reports whether two mounts mean the same, with everything that their
// values came from: the certificates of ca_file, what env("…") and file("…")
// gave. Secrets that are read when they are needed are told by their names.
func (m Mount) Equal(other Mount) bool { return reflect.DeepEqual(m, other) }

// Same reports whether two server blocks mean the same.
func (s Server) Same(other Server) bool { return reflect.DeepEqual(s, other) }

// NeedsRestart names the settings of the server that differ and that a running
// one cannot take over, as "server.listen".
func (s Server) NeedsRestart(next Server) []string {
	var names []string
	if s.Listen != next.Listen {
		names = append(names, "server.listen")
	}
	if s.SecretEnv != next.SecretEnv || !bytes.Equal(s.Secret, next.Secret) {
		names = append(names, "server.secret_env")
	}
	if s.RequestTimeout != next.RequestTimeout {
		names = append(names, "server.request_timeout")
	}
	if s.MaxMemory != next.MaxMemory {
		names = append(names, "server.max_memory")
	}
	if (s.TLS == nil) != (next.TLS == nil) {
		names = append(names, "server.tls")
	}
	return names
}

// SameAccess reports whether two configurations say the same of who may do what.
func (c *Config) SameAccess(other *Config) bool {
	return reflect.DeepEqual(c.Auth, other.Auth) && reflect.DeepEqual(c.Policy, other.Policy) &&
		reflect.DeepEqual(c.Tenants, other.Tenants) && c.Audit == other.Audit
}
