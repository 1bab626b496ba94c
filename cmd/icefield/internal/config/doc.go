// Package config reads the mount table: HCL, in its native or its JSON syntax,
// from one file or from every *.hcl and *.hcl.json file of a folder.
//
//	cfg, report := config.Load("/etc/icefield", config.Options{})
//	report.WriteText(os.Stderr)
//	if report.HasErrors() { … }
//
// A configuration looks like this:
//
//	mount "/" {
//	  backend            = "native"
//	  catalog_url        = "bolt://catalog.db"
//	  warehouse_location = "file:///var/lib/icefield/warehouse"
//	}
//
//	mount "partner" {
//	  backend     = "rest"
//	  catalog_url = "https://catalog.partner.example/api/catalog"
//	  warehouse   = "sales"
//	  owner       = "acme"
//	  token_env   = "PARTNER_TOKEN"
//	}
//
// Every mistake of every file is reported together, each with its place and with
// what to do about it. Reading opens no catalog and sends nothing: it reads the
// configuration, the files that file("…") names, and whether the secrets that it
// names are there. Relative paths (file("…"), *_file, bolt://, file warehouses,
// unix sockets) start at the folder of the file they stand in.
//
// Secret values never become part of a Config, except the server's own secret,
// and never of a report, not even where somebody wrote one into the file.
//
// It wires nothing: what a Config means is the command's business. Layer: part
// of cmd/icefield; of this module it imports what says which
// names and locations are valid.
package config
