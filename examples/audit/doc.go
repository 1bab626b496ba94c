// Package audit is a catalog whose audit trail gets into trouble: the server is killed while it commits, the disk under the
// trail is full, and whoever read it from a pipe is gone.
//
// audit.hcl has one native mount and a trail in a file without which nothing is done (fail_closed); stdout.hcl is the same
// with the trail on the standard output. The tests run them with the real binary and show
//
//   - that every row of the commit log has a line that says it was permitted, with the same request id, after the server was
//     killed again and again in the middle of commits, over many rotations;
//   - that with fail_closed a change which cannot be recorded is a 503 with Retry-After and is not made, that reads go on,
//     that /ready, metrics and /admin/v1/audit say so, and that all of it ends by itself when there is room, or a reader,
//     again;
//   - that without fail_closed everything goes on, and that the number of lost events is exactly that of the missing lines.
//
// A file that may not grow (RLIMIT_FSIZE) stands for the full disk, so that Go and Linux are enough; with the tag peers it
// is a small file system in memory that is full, which only root can mount. Run them with
//
//	go test ./examples/audit
//
// The package holds tests only.
package audit
