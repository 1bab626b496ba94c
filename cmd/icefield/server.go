package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/router/cork"
)

// server is a running server: bound, then open, then closed.
type server struct {
	cfg      *config.Config
	logger   *slog.Logger
	listener net.Listener
	http     *http.Server
	handler  atomic.Pointer[http.Handler]
	catalogs *catalogs
	// certificates is nil for a server without TLS.
	certificates *certificates
	served       chan error
	// keeping are the goroutines that keep the configuration up to date, and end
	// with stopKeeping, and the one that keeps the certificates so, with
	// stopWatching.
	keeping                   sync.WaitGroup
	stopKeeping, stopWatching context.CancelFunc

	once sync.Once
	err  error
}

// maxHeader bounds a request's headers: a page token in the query has up to
// 8 KiB, a bearer token as much.
const maxHeader = 64 << 10

// startServer binds the address and answers there at once, if only that the
// server is starting. Whoever calls it calls close.
func startServer(cfg *config.Config, logger *slog.Logger) (*server, error) {
	s := &server{cfg: cfg, logger: logger, served: make(chan error, 1)}
	var err error
	if cfg.Server.TLS != nil {
		if s.certificates, err = newCertificates(*cfg.Server.TLS, logger); err != nil {
			return nil, err
		}
	}
	listener, err := bind(cfg.Server.Listen)
	if err != nil {
		return nil, err
	}
	s.listener = listener
	s.serve(opening(cfg.InstanceID(), logger))
	// An answer has to be out some time after its request's deadline; how long
	// that takes is up to the client's line.
	slow := cfg.Server.RequestTimeout + time.Minute
	s.http = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       slow,
		WriteTimeout:      2 * slow,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       cork.Context,
		// "OPTIONS *" is an unknown route like any other.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	if s.certificates == nil {
		go func() { s.served <- s.http.Serve(cork.Listener(listener)) }()
		return s, nil
	}
	// What is written goes into TLS records, so that there is nothing to cork.
	s.http.TLSConfig = s.certificates.config()
	s.http.Handler = s.certificates.recheck(s.http.Handler)
	s.http.ConnContext = greet
	go func() { s.served <- s.http.ServeTLS(listener, "", "") }()
	ctx, stop := context.WithCancel(context.Background()) // #nosec G118 -- shutDown calls it, as s.stopWatching
	s.stopWatching = stop
	s.keeping.Go(func() { s.certificates.watch(ctx) })
	return s, nil
}

// serve makes h what answers from the next request on.
func (s *server) serve(h http.Handler) { s.handler.Store(&h) }

// url is how a client on this machine reaches the server.
func (s *server) url() string { return baseURL(s.listener, s.certificates != nil) }

// open opens the mounts and begins to serve them.
func (s *server) open(ctx context.Context) error {
	c, err := openCatalogs(ctx, s.cfg, s.certificates, s.logger)
	if err != nil {
		return err
	}
	s.catalogs = c
	s.serve(c)
	s.logger.Info("serving "+s.url(), append([]any{"mounts", mountNames(s.cfg)}, c.callers()...)...)
	return nil
}

// keep reads the configuration again whenever told is sent to, or a file of it
// changes, until the server is closed. It is called once, on an open server.
func (s *server) keep(from *origin, told <-chan os.Signal) {
	ctx, stop := context.WithCancel(context.Background()) // #nosec G118 -- shutDown calls it, as s.stopKeeping
	s.stopKeeping = stop
	r := newReloader(s, from.read)
	s.keeping.Go(func() { r.run(ctx) })
	s.keeping.Go(func() { watch(ctx, from, r.tell) })
	s.keeping.Go(func() {
		for {
			select {
			case <-told:
				s.catalogs.reopen(ctx)
				r.tell()
			case <-ctx.Done():
				return
			}
		}
	})
}

// mountNames lists the mounts for the start-up line.
func mountNames(cfg *config.Config) string {
	var names []string
	for _, m := range cfg.Mounts {
		name := m.Name + " (" + m.Kind
		if m.ReadOnly {
			name += ", read-only"
		}
		if !m.Required {
			name += ", not required"
		}
		names = append(names, name+")")
	}
	return strings.Join(names, ", ")
}

// wait serves until ctx ends or serving fails.
func (s *server) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.served:
		s.served <- err
		return fmt.Errorf("serving %s ended: %w", s.url(), err)
	}
}

// close stops taking requests, lets those under way finish within the grace,
// cuts the others off, and closes the mounts. Further calls return what the
// first did.
func (s *server) close() error {
	s.once.Do(func() { s.err = s.shutDown() })
	return s.err
}

func (s *server) shutDown() error {
	for _, stop := range []context.CancelFunc{s.stopKeeping, s.stopWatching} {
		if stop != nil {
			stop()
		}
	}
	patience := s.settings().ShutdownGrace
	grace, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.http.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.logger.Warn("requests were still under way after the grace and are cut off", "shutdown_grace", patience)
		err = s.http.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.keeping.Wait()
	if s.catalogs != nil {
		err = errors.Join(err, s.catalogs.close())
	}
	return err
}

// settings are those of the server as they are now.
func (s *server) settings() config.Server {
	if s.catalogs == nil {
		return s.cfg.Server
	}
	return s.catalogs.current.Load().cfg.Server
}

// serve runs a server until ctx ends. A configuration that came from files is
// kept up to date, and read again when something comes from told; from is nil for
// one that did not.
func serve(ctx context.Context, cfg *config.Config, from *origin, told <-chan os.Signal, logger *slog.Logger) error {
	s, err := startServer(cfg, logger)
	if err != nil {
		return err
	}
	if err = s.open(ctx); err == nil {
		if from != nil {
			s.keep(from, told)
		}
		unused := collectLess() // from here on: starting up leaves much behind
		err = s.wait(ctx)
		runtime.KeepAlive(unused)
		logger.Info("shutting down")
	} else if ctx.Err() != nil {
		// Whoever asked to stop is not interested in what did not open.
		err = nil
	}
	return errors.Join(err, s.close())
}
