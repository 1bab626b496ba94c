package config

type named struct{ Name string }

// presets stands in until rest.Profiles exists.
func presets() []named {
	var all []named
	for _, n := range []string{"polaris", "lakekeeper", "unity", "nessie", "gravitino", "glue", "s3tables", "r2", "biglake", "snowflake", "onelake", "oss-tables", "icefield"} {
		all = append(all, named{n})
	}
	return all
}
