//go:build peers

package replicas

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// scene is a catalog with the tables n.a and n.b, through both replicas.
type scene struct {
	*testing.T
	replicas [2]*wire.Catalog
}

func newKey() string { return uuid.Must(uuid.NewV7()).String() }

// set is the body of a commit that sets a property.
func set(value string, requirements ...any) map[string]any {
	return map[string]any{"requirements": append([]any{}, requirements...),
		"updates": []any{map[string]any{"action": "set-properties", "updates": map[string]string{"value": value}}}}
}

// send sends a change and wants a status.
func (s *scene) send(replica int, want int, key, method, path string, body any) *wire.Answer {
	s.Helper()
	a, err := s.replicas[replica].CallWithKey(key, method, path, body)
	if err != nil || a.Status != want {
		s.Fatalf("%s %s at replica %d: %v, %v; want %d", method, path, replica, a, err, want)
	}
	return a
}

// same fails unless a second answer is the first one's.
func (s *scene) same(first, second *wire.Answer) {
	s.Helper()
	if string(first.Body) != string(second.Body) && first.Status < 400 || first.Status != second.Status ||
		first.Type != second.Type || first.Message != second.Message || first.Header.Get("ETag") != second.Header.Get("ETag") {
		s.Errorf("the second answer is\n%v %v\nand the first was\n%v %v", second, second.Header["ETag"], first, first.Header["ETag"])
	}
}

// versions is how many metadata files a table had before the current one.
func (s *scene) versions(table string) int {
	s.Helper()
	var location string
	var n int
	for i, catalog := range s.replicas {
		loaded, err := catalog.LoadTable(table, "n")
		if err != nil {
			s.Fatal(err)
		}
		if i > 0 && loaded.MetadataLocation != location {
			s.Errorf("%s: the replicas show %s and %s", table, location, loaded.MetadataLocation)
		}
		location, n = loaded.MetadataLocation, len(loaded.Metadata.Log)
	}
	return n
}

// once fails unless f makes exactly so many changes to a table.
func (s *scene) changes(want int, table string, f func()) {
	s.Helper()
	before := s.versions(table)
	f()
	if made := s.versions(table) - before; made != want {
		s.Errorf("%d changes were made to %s, want %d", made, table, want)
	}
}

func TestAChangeSentAgainUnderItsKeyIsMadeOnceOnWhicheverReplica(t *testing.T) {
	cluster := pgtest.Start(t)
	both := start(t, cluster.NewDatabase(t))
	s := &scene{T: t, replicas: [2]*wire.Catalog{wire.New(both[0].url, "prod"), wire.New(both[1].url, "prod")}}
	s.replicas[0].MustCreateNamespace(t, "n")
	for _, name := range []string{"a", "b"} {
		s.replicas[0].MustCreateTable(t, name, "n")
	}
	a, b := s.replicas[0].Table("a", "n"), s.replicas[0].Table("b", "n")
	on := func(name string, f func(s *scene)) {
		t.Run(name, func(t *testing.T) { f(&scene{T: t, replicas: s.replicas}) })
	}

	on("in sequence, here and on the other replica", func(s *scene) {
		s.changes(1, "a", func() {
			key := newKey()
			first := s.send(0, 200, key, "POST", a, set("1"))
			s.same(first, s.send(0, 200, key, "POST", a, set("1")))
			s.same(first, s.send(1, 200, key, "POST", a, set("1")))
		})
	})
	on("at once", func(s *scene) {
		s.changes(1, "a", func() {
			key, answers := newKey(), make([]*wire.Answer, 16)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i], _ = s.replicas[i%2].CallWithKey(key, "POST", a, set("2")) })
			}
			all.Wait()
			for _, answer := range answers {
				if answer == nil || answer.Status != 200 {
					s.Fatalf("an answer is %v", answer)
				}
				s.same(answers[0], answer)
			}
		})
	})
	on("with another body", func(s *scene) {
		s.changes(1, "a", func() {
			key := newKey()
			s.send(0, 200, key, "POST", a, set("3"))
			s.send(0, 422, key, "POST", a, set("4"))
			s.send(1, 422, key, "POST", a, set("4"))
		})
	})
	on("on another table", func(s *scene) {
		key := newKey()
		s.changes(1, "a", func() { s.send(0, 200, key, "POST", a, set("5")) })
		s.changes(0, "b", func() { s.send(1, 422, key, "POST", b, set("5")) })
	})
	on("after a conflict, which stays one when it would not be one any more", func(s *scene) {
		schema := map[string]any{"type": "assert-last-assigned-field-id", "last-assigned-field-id": 4}
		key := newKey()
		first := s.send(0, 409, key, "POST", b, set("6", schema))
		column := map[string]any{"id": 4, "name": "more", "type": "long", "required": false}
		fields := append(wire.Schema().(map[string]any)["fields"].([]any), column)
		s.send(0, 200, "", "POST", b, map[string]any{"updates": []any{map[string]any{"action": "add-schema", "last-column-id": 4,
			"schema": map[string]any{"type": "struct", "schema-id": 1, "fields": fields}}}})
		s.changes(0, "b", func() { s.same(first, s.send(1, 409, key, "POST", b, set("6", schema))) })
		s.changes(1, "b", func() { s.send(1, 200, newKey(), "POST", b, set("6", schema)) })
	})
	on("creating, renaming and dropping", func(s *scene) {
		key, tables := newKey(), s.replicas[0].Namespace("n")+"/tables"
		created := s.send(0, 200, key, "POST", tables, map[string]any{"name": "c", "schema": wire.Schema()})
		s.same(created, s.send(1, 200, key, "POST", tables, map[string]any{"name": "c", "schema": wire.Schema()}))
		key = newKey()
		name := func(n string) any { return map[string]any{"namespace": []string{"n"}, "name": n} }
		rename := map[string]any{"source": name("c"), "destination": name("d")}
		s.send(0, 204, key, "POST", "/tables/rename", rename)
		s.send(1, 204, key, "POST", "/tables/rename", rename)
		key = newKey()
		s.send(1, 204, key, "DELETE", s.replicas[0].Table("d", "n"), nil)
		s.send(0, 204, key, "DELETE", s.replicas[0].Table("d", "n"), nil)
		s.send(0, 404, newKey(), "DELETE", s.replicas[0].Table("d", "n"), nil)
	})
	on("a transaction", func(s *scene) {
		change := func(table string) any {
			c := set("7")
			c["identifier"] = map[string]any{"namespace": []string{"n"}, "name": table}
			return c
		}
		body, key := map[string]any{"table-changes": []any{change("a"), change("b")}}, newKey()
		s.changes(1, "a", func() {
			s.changes(1, "b", func() {
				s.send(0, 204, key, "POST", "/transactions/commit", body)
				s.send(1, 204, key, "POST", "/transactions/commit", body)
			})
		})
	})
	on("after a crash between the change and its answer", func(s *scene) {
		s.changes(1, "a", func() {
			key := newKey()
			dying := wire.New(killBeforeItAnswers(s.T, both[0].Process, strings.TrimPrefix(both[0].url, "http://")), "prod")
			if answer, err := dying.CallWithKey(key, "POST", a, set("8")); err == nil {
				s.Fatalf("the client was answered: %v", answer)
			}
			first := s.send(1, 200, key, "POST", a, set("8"))
			both[0].Restart(s.T)
			s.same(first, s.send(0, 200, key, "POST", a, set("8")))
			if !strings.Contains(string(first.Body), `"value":"8"`) {
				s.Errorf("the replay is %s", first.Body)
			}
		})
	})
}

// killBeforeItAnswers returns the URL of a relay in front of a server that kills it when the first byte of an answer
// comes, and keeps that answer: the change is made and nobody was told.
func killBeforeItAnswers(t *testing.T, server *launch.Process, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", address)
			if err != nil {
				client.Close()
				continue
			}
			go io.Copy(behind, client)
			go func() {
				if _, err := behind.Read(make([]byte, 1)); err == nil {
					server.Kill()
				}
				behind.Close()
				client.Close()
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}
