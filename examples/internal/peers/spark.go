//go:build peers

package peers

import (
	_ "embed"
	"path/filepath"
	"testing"
)

//go:embed spark/requirements.txt
var sparkRequirements string

//go:embed spark/pom.xml
var sparkPom string

//go:embed spark-s3/pom.xml
var sparkS3Pom string

// NewSpark returns an interpreter that has PySpark, whose sessions run in a small JVM of their own and have Iceberg's
// runtime on their class path. It holds no other client. Everything is fetched on first use, about 500 MB.
func NewSpark(t testing.TB) *Python {
	t.Helper()
	return spark(t, "")
}

// NewSparkS3 is NewSpark with what Iceberg's own S3FileIO needs beside the runtime, another 70 MB.
func NewSparkS3(t testing.TB) *Python {
	t.Helper()
	folder := cached(t, "spark-s3", sparkS3Pom, func(folder string) error { return copyJars(folder, sparkS3Pom) })
	return spark(t, ","+one(t, folder, "lib", "*.jar"))
}

// spark has more jars than Iceberg's runtime, each after a comma.
func spark(t testing.TB, jars string) *Python {
	t.Helper()
	folder := cached(t, "spark", sparkRequirements+sparkPom, func(folder string) error {
		if err := installPython(folder, sparkRequirements); err != nil {
			return err
		}
		return copyJars(folder, sparkPom)
	})
	home := t.TempDir()
	return &Python{Path: interpreter(folder), home: home, env: []string{
		// The sessions are short: compiling for the long run costs them more than it gives.
		"PYSPARK_SUBMIT_ARGS=--master local[2] --driver-memory 1g --driver-java-options -XX:TieredStopAtLevel=1 --jars " + one(t, folder, "lib", "*.jar") + jars + " pyspark-shell",
		"PYSPARK_PYTHON=" + interpreter(folder),
		"SPARK_LOCAL_IP=127.0.0.1",
		"SPARK_LOCAL_DIRS=" + filepath.Join(home, "spark"),
		"SPARK_CONF_DIR=" + home, // no settings of the user
		"SPARK_HOME=" + one(t, folder, "venv", "lib", "python3*", "site-packages", "pyspark"),
		"TZ=UTC",
	}}
}

// one is the one file or folder that a pattern matches.
func one(t testing.TB, parts ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parts...))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s is there %d times: %v", filepath.Join(parts...), len(found), err)
	}
	return found[0]
}
