// Package spark is Spark SQL, with Iceberg's own runtime, on a native mount of a server that has another mount beside it:
// what a team does with its tables and views all day, and what it does to keep them in order. spark.hcl is the mount table;
// the folder tour is the programs, one part of a catalog's life in each file. They check what came of every statement: the
// rows, the schema, the snapshots, and the files that must be there or gone.
//
//	go test -tags peers ./examples/spark
//
// The package holds tests only.
package spark
