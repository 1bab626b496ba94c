package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// bind takes an address. A socket that a killed server left behind is replaced;
// one that is in use is not. A socket is for this user alone.
func bind(address config.Address) (net.Listener, error) {
	if address.Network == "unix" {
		if err := clearSocket(address.Address); err != nil {
			return nil, err
		}
	}
	listen := net.Listen
	if address.Network == "unix" {
		listen = listenPrivately
	}
	listener, err := listen(address.Network, address.Address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("cannot listen on %s: another program, perhaps another icefield, uses this address; stop that one, or set listen in the server block of a configuration", address)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return listener, nil
}

// listenPrivately makes the socket with no rights for others from the start. The
// mask is the process's own, and nothing else makes files while a server binds.
func listenPrivately(network, address string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return net.Listen(network, address)
}

// clearSocket removes a socket that nobody listens on.
func clearSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot listen on unix:%s: %w", path, err)
	case info.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("cannot listen on unix:%s: there is a file of this name that is no socket; move it away, or choose another path", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		return errors.Join(fmt.Errorf("cannot listen on unix:%s: another program, perhaps another icefield, uses this socket", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot tell whether the socket unix:%s is in use: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the socket unix:%s that an earlier run left behind: %w", path, err)
	}
	return nil
}

// baseURL is how a client on this machine reaches a listener, by TLS or without.
func baseURL(listener net.Listener, secure bool) string {
	if listener.Addr().Network() == "unix" {
		return "unix:" + listener.Addr().String()
	}
	if secure {
		return "https://" + listener.Addr().String()
	}
	return "http://" + listener.Addr().String()
}
