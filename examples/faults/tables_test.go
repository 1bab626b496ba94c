package faults

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// table is a mount table that the server is to come to, or is not to.
type table struct {
	text     string
	visiting bool
	login    string // of the mount "guarded"
	refused  string // what /ready says of it; empty for one that is good
	step     int
}

// tableOf is the mount table of a step, good or not: the mount "shifting" leads to one remote and to the other by turns,
// "guarded" has another login and other limits each second time, "local", which is native, another cache now and then, and
// "visiting" comes and goes, and need not be reachable each second time. The owner of "shifting" tells
// which step is in effect.
func (r *reloading) tableOf(step int) table {
	good := table{step: step, visiting: step%3 != 0, login: [...]string{"first", "second"}[step/2%2]}
	text := r.base
	text += fmt.Sprintf("mount \"shifting\" {\n  backend = \"rest\"\n  catalog_url = %q\n  owner = \"acme-%d\"\n}\n",
		r.partners[[...]string{"here", "there"}[step%2]].URL, step)
	text += fmt.Sprintf("mount \"guarded\" {\n  backend = \"rest\"\n  catalog_url = %q\n  owner = \"acme\"\n"+
		"  auth \"bearer\" {\n    token_env = \"RELOAD_%s\"\n  }\n  limit {\n    in_flight = %d\n  }\n}\n",
		r.partners["guarded"].URL, strings.ToUpper(good.login), 100+step/2%2)
	text += fmt.Sprintf("mount \"local\" {\n  backend = \"native\"\n  catalog_url = \"bolt://${env(\"RELOAD_DATA\", \"data\")}/local.db\"\n"+
		"  warehouse_location = \"${env(\"RELOAD_DATA\", \"data\")}/local\"\n  owner = \"acme\"\n  metadata_cache = \"%dMiB\"\n}\n", 1+step/5%2)
	if good.visiting {
		text += fmt.Sprintf("mount \"visiting\" {\n  backend = \"rest\"\n  catalog_url = %q\n  owner = \"acme\"\n  required = %t\n}\n",
			r.partners["visiting"].URL, step%2 == 0)
	}
	good.text = text
	return good
}

// spoiled is what no server may take over.
func (r *reloading) spoiled(step int) table {
	t := r.tableOf(step)
	another := fmt.Sprintf("mount \"another\" {\n  backend = \"rest\"\n  catalog_url = %q\n  owner = \"acme\"\n", r.partners["visiting"].URL)
	switch step / 4 % 6 {
	case 0:
		t.text, t.refused = t.text+another, "mistake" // no end
	case 1:
		t.text, t.refused = t.text+another+"  profil = \"polaris\"\n}\n", "mistake"
	case 2: // one of two cannot be opened
		t.text += another + "}\n" + fmt.Sprintf("mount \"nobody\" {\n  backend = \"rest\"\n  catalog_url = \"http://%s\"\n  owner = \"acme\"\n}\n", r.nobody)
		t.refused = `"nobody"`
	case 3: // it would hide a namespace
		t.text, t.refused = t.text+strings.Replace(another, "another", "shop", 1)+"}\n", `"shop"`
	case 4:
		t.text, t.refused = strings.Replace(t.text, "server {", "server {\n  request_timeout = \"29s\"", 1), "request_timeout"
	case 5: // cut off in the middle of being written
		t.text, t.refused = t.text[:len(t.text)/2], "mistake"
	}
	return t
}

// put writes a mount table as careful editors do, or, now and then, in place.
func (r *reloading) put(t table) {
	path := r.path
	if t.step%5 != 0 {
		path += "~"
	}
	err := os.WriteFile(path, []byte(t.text), 0o600)
	if err == nil && path != r.path {
		err = os.Rename(path, r.path)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// hangup asks the server to read its configuration again.
func (r *reloading) hangup() {
	if err := syscall.Kill(r.server.PID(), syscall.SIGHUP); err != nil {
		r.t.Fatal(err)
	}
}

// arrives waits until a good table is in effect and known to be.
func (r *reloading) arrives(t table) {
	r.t.Helper()
	await(r.t, time.Minute, fmt.Sprintf("step %d is in effect", t.step), func() bool {
		s := r.server.standing(r.t, "/admin/v1/mounts")
		visits, owner := false, ""
		for _, m := range s.Mounts {
			visits = visits || m.Name == "visiting"
			if m.Name == "shifting" {
				owner = m.Owner
			}
		}
		return owner == fmt.Sprintf("acme-%d", t.step) && visits == t.visiting && len(s.Components) == 1 && s.Components[0].State == "ok"
	})
	if series := r.server.metrics(r.t); series["icefield_config_last_reload_successful"] != 1 {
		r.t.Errorf("step %d: the metric says that it was refused", t.step)
	}
}

const refusals = `icefield_config_reloads_total{outcome="refused"}`

// refuses waits until a table is refused, which has to be said, and to change nothing.
func (r *reloading) refuses(t table, before float64, effect string) {
	r.t.Helper()
	await(r.t, time.Minute, fmt.Sprintf("step %d is refused for %s", t.step, t.refused), func() bool {
		return r.server.metrics(r.t)[refusals] > before
	})
	series := r.server.metrics(r.t)
	if series["icefield_config_last_reload_successful"] != 0 {
		r.t.Errorf("step %d: the metric says that it was accepted", t.step)
	}
	s := r.server.standing(r.t, "/ready")
	if len(s.Components) != 1 || s.Components[0].State != "refused" || !strings.Contains(s.Components[0].Reason, t.refused) {
		r.t.Errorf("step %d, which is refused for %s: /ready says %+v", t.step, t.refused, s.Components)
	}
	if now := r.effect(); now != effect {
		r.t.Errorf("step %d was refused and changed the mounts: %s, before %s", t.step, now, effect)
	}
}

// effect is the mount table that is in effect.
func (r *reloading) effect() string {
	var names []string
	for _, m := range r.server.standing(r.t, "/admin/v1/mounts").Mounts {
		names = append(names, m.Name+" of "+m.Owner)
	}
	return strings.Join(names, ", ")
}

// unheard is an address at which nobody listens as long as the test runs: it is bound.
func unheard(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(address.(*syscall.SockaddrInet4).Port))
}

// base is the part of the mount table that stays.
func base(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("reload.hcl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "lake.hcl") }
