// Package audit writes down who did what: one line of JSON for each decision, each
// change and each credential that was handed out.
//
//	audit {
//	  sink        = "file"                        # stdout | file | none
//	  path        = "/var/log/icefield/audit.jsonl"
//	  fail_closed = true                          # no record, no change
//	  max_size    = "100MiB"                      # then path.1, path.2 …
//	  keep        = 10
//	  queue       = 10000                         # events that may wait
//	}
//
// A line always has these fields, in this order, with null for what is not known
// or does not apply:
//
//	{"time":"2026-08-02T10:00:00.000000Z","request_id":"5f1c","principal":"corp/alice",
//	 "tenant":"acme","operation":"dropTable","mount":"prod","resource":"Table::\"prod/a/t\"",
//	 "outcome":"permitted","policies":["builtin-admin"],"remote_identity":null,
//	 "remote_status":null,"client":"192.0.2.7", …}
//
// and after them those of catalog (where it was asked for), login (the kind of
// login), result (what came of it), storage (the access to files that was given),
// restricted and more (further resources of the request) that say something. There
// is no field that could hold a token, a key or a signed address.
//
// resource is the text of the Cedar entity, without Icefield::; "icefield policy
// explain" takes it. No name that anybody chooses can end a line or look like
// another field. A line has at most MaxLine bytes: texts that are too long end in "…#" and a hash of the
// whole, lists keep what fits, and the field cut says of both how much there was,
// or is missing.
//
// # What is certain
//
// With fail_closed a change is recorded as "permitted" before it is handed on, and
// credentials as "issued" before they leave, in one write that is in the kernel
// before anything happens; if that fails the request is answered with 503, and
// nothing is done. What comes of the change is a second line. So the trail may hold
// a "permitted" that was never done (the process was killed, or the write was only
// too slow), never the other way round. It is not synced to the disk: the end of
// the process loses nothing, that of the machine can.
//
// Everything else (reads, denials, failed logins, the second lines, and all events
// without fail_closed) waits in a bounded queue, for a hundredth of a second so that
// many share one write, unless something that has to be written comes behind it.
// What does not fit there, and what is in a write that fails, is lost and counted:
// in icefield_audit_events_total{outcome="lost"}, in Status, in the log, and, as
// soon as writing works again, which is tried each second, in a line
//
//	{"time":…,"operation":"audit_lost","outcome":"lost",…,"lost":17,"refused":2,"since":…}
//
// that stands where the missing ones would have. A line that a full disk cut short
// is not completed, since nobody knows for how long it stays so: the next one begins
// behind a newline, and a reader sees one line that is no JSON.
//
// # Files
//
// Each line is in one write that appends, so several servers may share a file, and
// so may tools that rotate it: the path is looked at once a second, and Reopen does
// it at once. Servers that share a file rotate it one at a time. Size and number of
// rotated files are the package's own business rather than a library's, since
// rotation must not lose a line when it fails: the file then grows on.
//
// A standard output whose reader has gone fails like a full disk; it does not end
// the process.
//
// It is not the commit log of a registry, which is written in one transaction with
// the change itself, and not the access log.
//
// Layer: above the root of policy, which defines Event and Trail; below router.
package audit
