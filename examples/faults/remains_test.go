package faults

import (
	"encoding/json"
	"fmt"
	"time"
)

// kept demands that of what clients were told is done, nothing is missing.
func (r *reloading) kept() {
	for c, client := range r.clients {
		for mount, levels := range map[string][]string{"books": {"books", "shop"}, "under": {"shop"}, "local": {"local", "shop"}} {
			a, err := client.Call("GET", client.Table(tableName(c), levels...), nil)
			var said struct {
				Metadata struct {
					Properties struct {
						Commit string `json:"commit"`
					} `json:"properties"`
				} `json:"metadata"`
			}
			if err == nil {
				err = json.Unmarshal(a.Body, &said)
			}
			want := ""
			if last, has := r.done[c][mount]; has {
				want = fmt.Sprint(last)
			}
			if err != nil || said.Metadata.Properties.Commit != want {
				r.t.Errorf("client %d was told that commit %q to %s is done, which has %v %v", c, want, mount, a, err)
			}
		}
	}
}

// usage is what a server holds while nobody uses it, but for the connections that it keeps.
type usage struct{ goroutines, files int }

// settled has a mount table put into effect, and returns what the server holds with it, once that is as little as before.
// Nothing may be left of a remote that it does not lead to.
func (r *reloading) settled(t table, before *usage) usage {
	for _, client := range r.clients {
		client.Close()
	}
	if before != nil {
		r.put(t)
		r.hangup()
		r.arrives(t)
	}
	for _, name := range []string{"there", "visiting"} {
		await(r.t, 30*time.Second, "no connection is left to the remote "+name, func() bool { return r.partners[name].open() == 0 })
	}
	var now usage
	measure := func() bool {
		kept := 0
		for _, p := range r.partners {
			kept += p.open()
		}
		now = usage{int(r.server.metrics(r.t)["go_goroutines"]) - 2*kept, r.server.files(r.t) - kept}
		return before == nil || now.goroutines <= before.goroutines+5 && now.files <= before.files+5
	}
	if before == nil {
		measure()
	} else {
		defer func() { r.t.Logf("before %+v, in the end %+v", *before, now) }()
		await(r.t, 30*time.Second, "as little is held as before", measure)
	}
	return now
}
