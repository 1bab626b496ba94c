// Package launch builds the icefield binary and runs it, and other servers, as
// real processes of a test: on a free loopback port, waited for with a deadline,
// logged to a file that is shown when the test fails, and killed by process id.
//
//	func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }
//
//	server := launch.Start(t, launch.Command{
//		Name:  "lake",
//		Path:  launch.Binary(t),
//		Args:  []string{"serve", "--config", "lake.hcl"},
//		Env:   []string{"LAKE_LISTEN=" + address},
//		Ready: "http://" + address + "/ready",
//	})
//
// It is test support for the packages below examples and is not part of the server.
package launch
