package remote

import (
	"fmt"
	"slices"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// What a failing remote says (wire 5.3, design 3.10).
func statusFaults() []Switch {
	all := func(kind mounts.Kind) Want { return Want{Read: kind, Write: kind, Commit: kind} }
	// lost is what a 5xx makes of a change: nobody knows whether it was made.
	lost := func(read, change mounts.Kind) Want {
		return Want{Read: read, Write: change, Commit: change, Unknown: true}
	}
	gateway := lost(mounts.BadGateway, mounts.BadGateway)
	limited := Want{Read: mounts.RateLimited, Write: mounts.RateLimited, Commit: mounts.RateLimited, Retry: true}
	return []Switch{
		{Name: "401", Why: "the mount's own login; design 3.10", Fault: Fault{Status: 401}, Want: all(mounts.BadGateway)},
		{Name: "401 as HTML", Why: "design 3.10", Fault: Fault{Status: 401, HTML: true}, Want: all(mounts.BadGateway)},
		{Name: "419", Why: "design 3.10", Fault: Fault{Status: 419}, Want: all(mounts.BadGateway)},
		{Name: "403", Why: "design 3.10", Fault: Fault{Status: 403}, Want: all(mounts.Forbidden)},
		{Name: "403 as HTML", Why: "a firewall; wire 5.3", Fault: Fault{Status: 403, HTML: true}, Want: all(mounts.Forbidden)},
		{Name: "404 as HTML", Why: "no such route; design 3.10", Fault: Fault{Status: 404, HTML: true}, Want: all(mounts.BadGateway)},
		{Name: "404 without a body", Why: "design 3.10", Fault: Fault{Status: 404, Empty: true}, Want: all(mounts.BadGateway)},
		{Name: "404 of the warehouse", Why: "design 3.10", Fault: Fault{Status: 404, Type: "NoSuchWarehouseException", Message: "gone"}, Want: all(mounts.BadGateway)},
		{Name: "404 in AWS's shape", Why: "Glue's gateway; wire 5.3", Fault: Fault{Status: 404, Body: []byte(`{"__type":"com.amazon.coral.service#UnknownOperationException"}`)}, Want: all(mounts.BadGateway)},
		{Name: "400 for throttling", Why: "Glue; design 11.2", Fault: Fault{Status: 400, Type: "ThrottlingException", Message: "Rate exceeded", RetryAfter: "7"}, Want: limited},
		{Name: "400 for throttling in AWS's shape", Why: "Glue, by profile; wire 5.3",
			Fault: Fault{Status: 400, RetryAfter: "7", Body: []byte(`{"__type":"com.amazonaws.glue#ThrottlingException","Message":"Rate exceeded"}`)}, Want: limited},
		{Name: "405", Why: "wire 5.3", Fault: Fault{Status: 405, Type: "x"}, Want: all(mounts.UnsupportedOperation)},
		{Name: "406", Why: "a HEAD has no body that tells it from a proxy's; wire 5.3", Fault: Fault{Status: 406},
			Ops: capabilities.All().Without(capabilities.Of(capabilities.TableExists)), Want: all(mounts.UnsupportedOperation)},
		{Name: "501", Why: "wire 5.3", Fault: Fault{Status: 501}, Want: all(mounts.UnsupportedOperation)},
		{Name: "429", Why: "design 3.10", Fault: Fault{Status: 429, RetryAfter: "7"}, Want: limited},
		{Name: "429 as HTML", Why: "a gateway; design 3.10", Fault: Fault{Status: 429, HTML: true, RetryAfter: "7"}, Want: limited},
		{Name: "500", Why: "design 3.10", Fault: Fault{Status: 500}, Want: gateway},
		{Name: "500 as HTML", Why: "wire 5.3", Fault: Fault{Status: 500, HTML: true}, Want: gateway},
		{Name: "500 without a body", Why: "wire 5.3", Fault: Fault{Status: 500, Empty: true}, Want: gateway},
		{Name: "500 that speaks of an absence", Why: "an error is never an absence; design 1", Fault: Fault{Status: 500, Type: "NoSuchTableException"}, Want: gateway},
		{Name: "502", Why: "wire 5.3", Fault: Fault{Status: 502, HTML: true}, Want: gateway},
		{Name: "503", Why: "on a commit never a 503; design 3.10", Fault: Fault{Status: 503, RetryAfter: "7"}, Want: lost(mounts.Unavailable, mounts.BadGateway)},
		{Name: "504", Why: "design 3.10", Fault: Fault{Status: 504}, Want: lost(mounts.Timeout, mounts.Timeout)},
		{Name: "505", Why: "wire 5.3", Fault: Fault{Status: 505, HTML: true}, Want: gateway},
		{Name: "520", Why: "Cloudflare; wire 5.3", Fault: Fault{Status: 520, HTML: true}, Want: gateway},
		{Name: "303 to a login page", Why: "Databricks; wire 2.12", Fault: Fault{Status: 303, HTML: true, Location: "/login"}, Want: gateway},
		{Name: "301", Why: "wire R32", Fault: Fault{Status: 301, HTML: true, Location: "/v1/config"}, Want: gateway},
		{Name: "307", Why: "a redirect that keeps the verb; wire 5.3", Fault: Fault{Status: 307, Location: "/v1/config"}, Want: gateway},
		{Name: "308", Why: "wire 5.3", Fault: Fault{Status: 308, Location: "/v1/config"}, Want: gateway},
		{Name: "304 unasked", Why: "wire R16", Fault: Fault{Status: 304}, Want: gateway},
		{Name: "206", Why: "wire 5.3", Fault: Fault{Status: 206, Body: []byte(`{}`)}, Want: gateway},
		{Name: "508", Why: "design 5.6", Fault: Fault{Status: 508}, Want: all(mounts.Loop)},
	}
}

// Answers of 200 that are not the protocol (design 3.10, 11.2).
func pageFaults() []Switch {
	gateway := Want{Read: mounts.BadGateway, Write: mounts.BadGateway, Commit: mounts.BadGateway, Unknown: true}
	var list []Switch
	add := func(bodies map[string]string, ops capabilities.Set) {
		for name, body := range bodies {
			list = append(list, Switch{Name: "200 with " + name, Why: "not the protocol; design 3.10", Fault: Fault{Raw: []byte(body)}, Ops: ops, Want: gateway})
		}
	}
	add(map[string]string{
		"a web page": loginPage, "nothing": "", "a list": "[]", "a number": "7", "null": "null", "text": `"ok"`, "half an object": `{"metadata-location":"s3://b/m","metadata":{"a":`,
		"two objects": `{"metadata-location":"s3://b/m","metadata":{}}{}`, "a NUL": "{\"metadata-location\":\"s3://b/m\",\"metadata\":{}}\x00",
		"a byte order mark": "\ufeff{\"metadata-location\":\"s3://b/m\",\"metadata\":{}}", "an error": `{"error":{"message":"x","type":"NoSuchTableException","code":404}}`,
	}, answering())
	add(map[string]string{
		"an empty object": "{}", "invalid UTF-8": "{\"metadata-location\":\"s3://b/\xff\",\"metadata\":{}}",
		"metadata that is null": `{"metadata-location":"s3://b/m","metadata":null}`, "metadata that is a list": `{"metadata-location":"s3://b/m","metadata":[]}`,
		"a location that is null": `{"metadata-location":null,"metadata":{}}`, "a location that is empty": `{"metadata-location":"","metadata":{}}`,
		"fields twice": `{"metadata-location":"s3://b/m","metadata-location":"s3://c/m","metadata":{}}`,
	}, capabilities.Of(capabilities.LoadTable, capabilities.CreateTable, capabilities.RegisterTable, capabilities.CommitTable, capabilities.LoadView,
		capabilities.CreateView, capabilities.ReplaceView))
	slices.SortFunc(list, func(a, b Switch) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// answering are the operations whose answer has a body that means something.
func answering() capabilities.Set {
	return capabilities.All().Without(capabilities.Of(capabilities.NamespaceExists, capabilities.TableExists, capabilities.ViewExists,
		capabilities.DropNamespace, capabilities.DropTable, capabilities.DropView, capabilities.RenameTable, capabilities.RenameView,
		capabilities.CommitTransaction, capabilities.ReportMetrics, capabilities.CancelPlan))
}

// Damage to the connection and the answer (design 11.2, 11.3).
func damageFaults() []Switch {
	gateway := Want{Read: mounts.BadGateway, Write: mounts.BadGateway, Commit: mounts.BadGateway, Unknown: true}
	timeout := Want{Read: mounts.Timeout, Write: mounts.Timeout, Commit: mounts.Timeout, Unknown: true}
	list := []Switch{}
	for _, d := range []struct {
		name string
		how  Break
	}{
		{"cut in the body", Cut}, {"shorter than announced", ShortBody}, {"longer than announced", LongBody}, {"half an answer", Truncate},
		{"gzip that is none", BadGzip}, {"an encoding nobody asked for", UnknownEncoding}, {"more after the end", Trailing},
	} {
		list = append(list, Switch{Name: d.name, Why: "design 11.2", Fault: Fault{Break: d.how}, Ops: answering(), Want: gateway})
	}
	for _, after := range []bool{false, true} {
		when := "before"
		if after {
			when = "after"
		}
		list = append(list,
			Switch{Name: fmt.Sprintf("cut %s it is carried out", when), Why: "design 11.3", Fault: Fault{Break: Reset, After: after}, Want: gateway},
			Switch{Name: fmt.Sprintf("hangs %s it is carried out", when), Why: "design 11.3", Fault: Fault{Break: Hang, After: after}, Want: timeout},
			Switch{Name: fmt.Sprintf("500 %s it is carried out", when), Why: "design 11.3", Fault: Fault{Status: 500, After: after}, Want: gateway},
			Switch{Name: fmt.Sprintf("504 as HTML %s it is carried out", when), Why: "design 11.3", Fault: Fault{Status: 504, HTML: true, After: after}, Want: timeout})
	}
	return append(list, Switch{Name: "hangs in the body", Why: "slow loris; design 11.2", Fault: Fault{Break: SlowBody}, Ops: answering(), Want: timeout})
}

// Faults of some operations alone, and habits that are refused.
func someFaults() []Switch {
	gateway := Want{Read: mounts.BadGateway, Write: mounts.BadGateway, Commit: mounts.BadGateway, Unknown: true}
	refused := func(name, why string, set func(*Quirks), ops ...capabilities.Op) Switch {
		return Switch{Name: name, Why: why, Set: set, Ops: capabilities.Of(ops...), Want: gateway}
	}
	listings := []capabilities.Op{capabilities.ListNamespaces, capabilities.ListTables, capabilities.ListViews}
	heads := []capabilities.Op{capabilities.TableExists}
	list := []Switch{
		{Name: "outcome unknown to the remote itself", Why: "wire 1.4", Fault: Fault{Status: 500, Type: "CommitStateUnknownException"}, Want: gateway},
		{Name: "202 and nothing else", Why: "taken, not done; wire R1", Fault: Fault{Status: 202, Empty: true, After: true}, Want: gateway},
		refused("no location in answers", "wire R8", func(q *Quirks) { q.NoLocation = true }, capabilities.LoadTable, capabilities.LoadView,
			capabilities.CreateTable, capabilities.RegisterTable, capabilities.CommitTable, capabilities.CreateView, capabilities.ReplaceView),
		refused("relative rows", "children by their last level alone could be anybody's; design 5", func(q *Quirks) { q.RelativeRows = true }, capabilities.ListNamespaces),
		refused("token repeated", "design 11.2", func(q *Quirks) { q.RepeatToken, q.PageCap = true, 1 }, listings...),
		{Name: "HEAD answered by a web page", Why: "a login page says 200 to everything: a load tells; wire R31", Set: func(q *Quirks) { q.HEADHTML = true },
			Ops: capabilities.Of(heads...), Want: Want{Same: true}},
		refused("HEAD answered with 500", "an error is never an absence; wire 2.14", func(q *Quirks) { q.HEADStatus = 500 }, heads...),
		refused("HEAD answered with 302", "wire R32", func(q *Quirks) { q.HEADStatus = 302 }, heads...),
	}
	forbidden := Want{Read: mounts.Forbidden}
	list = append(list, Switch{Name: "HEAD answered with 403", Why: "never an absence; wire 2.14", Set: func(q *Quirks) { q.HEADStatus = 403 }, Ops: capabilities.Of(heads...), Want: forbidden})
	for name, how := range map[string]Break{"lists that are null": NullLists, "no lists": NoLists, "rows of somewhere else": StrayRows, "rows that are none": BadRows} {
		ops := listings
		if how == StrayRows {
			ops = listings[:1]
		}
		list = append(list, Switch{Name: name, Why: "an error is never an empty listing; design 3.10", Fault: Fault{Break: how}, Ops: capabilities.Of(ops...), Want: gateway})
	}
	return list
}
