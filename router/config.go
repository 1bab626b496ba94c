package router

import (
	"net/http"
	"time"
)

// config answers /v1/config. Without a warehouse, or with the tree's name, it is
// about the tree; with a mount's view name about that mount, whose paths then
// begin with its prefix. Both maps are always objects and the endpoint list is
// never empty.
func (s *server) config(w http.ResponseWriter, r *http.Request) error {
	ctx := identified(r)
	catalog := &s.Tree
	if name := r.URL.Query().Get("warehouse"); name != "" {
		if catalog = s.byWarehouse[name]; !s.visible(ctx, catalog) {
			return s.noWarehouse(ctx, name)
		}
	}
	overrides := map[string]string{}
	if catalog.Prefix != "" {
		overrides["prefix"] = catalog.Prefix
	}
	s.json(w, r, "no-store", func(b []byte) []byte {
		b = append(b, `{"defaults":{},"overrides":`...)
		b = appendMap(b, overrides)
		b = append(b, `,"endpoints":`...)
		b = appendStrings(b, s.endpoints(ctx, catalog))
		// Its presence makes Java clients send keys, and repeat changes under them.
		if life := s.keyLifetime(ctx, catalog); life >= time.Second {
			b = append(appendPeriod(append(b, `,"idempotency-key-lifetime":"`...), life), '"')
		}
		return append(b, '}')
	})
	return nil
}

// json answers 200 on a route of the server itself.
func (s *server) json(w http.ResponseWriter, r *http.Request, cacheControl string, write func([]byte) []byte) {
	if !claim(w) {
		return
	}
	w.Header().Set("Cache-Control", cacheControl)
	buf := s.buffers.get()
	*buf = write(*buf)
	s.buffers.write(w, r, http.StatusOK, body{head: *buf})
	s.buffers.put(buf)
}
