package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
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

var serverShape = shape{attrs: []string{"name", "listen", "secret_env", "request_timeout", "max_body", "max_memory", "shutdown_grace"}}

// server reads the server block; nil means defaults.
func (l *loader) server(block *hcl.Block) Server {
	s := Server{
		Name: DefaultName, Listen: Address{Network: "tcp", Address: DefaultListen},
		RequestTimeout: DefaultRequestTimeout, MaxBody: DefaultMaxBody, MaxMemory: DefaultMaxMemory, ShutdownGrace: DefaultShutdownGrace,
	}
	if block == nil {
		return s
	}
	a := l.content(block.Body, serverShape).Attributes
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
	return s
}

// maxSocketPath is what the system's socket addresses hold.
const maxSocketPath = 107

// listen reads an address. Callers are not authenticated, so only addresses
// that nobody outside this machine can reach are accepted.
func (l *loader) listen(attr *hcl.Attribute, def Address) Address {
	s := l.text(attr, "")
	if s == "" {
		return def
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" || strings.HasPrefix(path, "//") {
			l.refuse(attr, "Invalid address", `Write the path of the socket after unix: and one slash, as in "unix:/run/icefield.sock".`)
			return def
		}
		if path = absolute(dirOf(attr), path); len(path) > maxSocketPath {
			l.refuse(attr, "Invalid address", fmt.Sprintf("The path of the socket is longer than the %d bytes that the system allows.", maxSocketPath))
			return def
		}
		return Address{Network: "unix", Address: path}
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		l.refuse(attr, "Invalid address", fmt.Sprintf(`listen is %s. Write host and port, as in "127.0.0.1:8181", or a socket, as in "unix:/run/icefield.sock".`, l.show(attr, s)))
		return def
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		l.refuse(attr, "Invalid address", "The port must be a number from 0 to 65535; 0 takes any free one.")
		return def
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		l.refuse(attr, "Not a loopback address", "There is no authentication: everybody who can reach the address may do everything. "+
			`So only loopback addresses ("127.0.0.1:8181", "[::1]:8181", "localhost:8181") and unix sockets ("unix:/run/icefield.sock") are accepted.`)
		return def
	}
	return Address{Network: "tcp", Address: s}
}
