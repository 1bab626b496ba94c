// Package peers gets the real clients and servers that the examples are tested with, and runs them: PyIceberg, pyarrow
// and DuckDB in a Python virtual environment, PySpark with Iceberg's runtime in another one, with what S3 takes beside it
// where that is asked for, and Iceberg's own Java REST server, Java REST client and REST compatibility kit from Maven, and
// Nessie from there as well, and SeaweedFS, which is built from its source.
//
// What has to be fetched is fetched once, into "icefield-peers" in the user's cache folder, under the hash of what asks
// for it (requirements.txt, java, spark, spark-s3, nessie, seaweed), so that a change of either makes a new one and leaves
// the old one alone. Test processes that run at the same time wait for each other with a lock file. It takes python3 with
// its venv module, java 17 or newer and mvn on the path. SeaweedFS takes many minutes to build on a small machine: more
// than go test gives a package unless -timeout says so.
//
//	python := peers.NewPython(t)
//	output := python.Run(t, "lifecycle.py", address)
//	partner := peers.StartJavaServer(t)
//	output = peers.NewSpark(t).Run(t, "lake.py", address)
//	tests := peers.Kit{URL: address, Select: []string{"org.apache.iceberg.rest.RESTCompatibilityKitSuite"}}.Run(t)
//
// A peer that cannot be had or does not start fails the test; nothing is ever skipped. The package is behind the build
// tag "peers", so that "go test ./..." needs nothing but Go. It is test support and not part of the server.
package peers
