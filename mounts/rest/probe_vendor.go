package rest

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// hosts of vendors that run their catalogs themselves.
var vendorHosts = []struct {
	vendor string
	host   *regexp.Regexp
}{
	{"glue", regexp.MustCompile(`^glue(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws)$`)},
	{"s3tables", regexp.MustCompile(`^s3tables(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws)$`)},
	{"r2", regexp.MustCompile(`^catalog\.cloudflarestorage\.com$`)},
	{"biglake", regexp.MustCompile(`^biglake\.googleapis\.com$`)},
	{"snowflake", regexp.MustCompile(`(^|\.)snowflakecomputing\.(com|cn)$`)},
	{"onelake", regexp.MustCompile(`^onelake\.table\.fabric\.microsoft\.com$`)},
	{"oss-tables", regexp.MustCompile(`\.oss-tables\.aliyuncs\.com$`)},
	{"unity", regexp.MustCompile(`(^|\.)(cloud\.databricks\.com|azuredatabricks\.net|gcp\.databricks\.com|databricks\.com)$`)},
}

func vendorOfHost(host string) string {
	for _, v := range vendorHosts {
		if v.host.MatchString(strings.ToLower(host)) {
			return v.vendor
		}
	}
	return ""
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// signs notes what the settings say about whose catalog it is: strong signs
// choose the profile, the first one wins.
func (f *Found) signs(said *configAnswer) {
	for _, entry := range said.endpoints {
		if _, path, ok := strings.Cut(entry, " "); ok && strings.HasPrefix(path, "/polaris/") {
			f.sign("polaris", "its endpoint list has Polaris's own endpoints")
			break
		}
	}
	for _, set := range []map[string]string{said.overrides, said.defaults} {
		for name := range set {
			switch {
			case strings.HasPrefix(name, "nessie."):
				f.sign("nessie", "its settings have Nessie's own keys")
			case strings.HasPrefix(name, "lakekeeper."):
				f.sign("lakekeeper", "its settings have Lakekeeper's own keys")
			case strings.HasPrefix(name, "gravitino."):
				f.sign("gravitino", "its settings have Gravitino's own keys")
			}
		}
	}
	prefix, err := url.PathUnescape(f.Prefix)
	if err != nil {
		prefix = f.Prefix
	}
	switch {
	case strings.HasPrefix(prefix, "arn:") && strings.Contains(prefix, ":s3tables:"):
		f.sign("s3tables", "the prefix is the ARN of an S3 table bucket")
	case strings.HasPrefix(prefix, "acs:osstables:"):
		f.sign("oss-tables", "the prefix is the ARN of an OSS table bucket")
	case strings.Contains(prefix, "|"):
		f.sign("nessie", "the prefix is a reference and a warehouse")
	}
}

func (f *Found) sign(vendor, reason string) {
	if f.Profile == "" {
		f.Profile = vendor
	}
	if f.Profile == vendor {
		f.Reasons = append(f.Reasons, reason)
	}
}

// guess completes the guess whose catalog it is, from the strongest signs to the
// weakest: the host, the settings (noted already), the answer's header, where
// it lies, and at last how it speaks of a route that it cannot have.
func (f *Found) guess(ctx context.Context, k *client, c Config, a *answer) {
	if c.Profile.Name != "" {
		f.Profile, f.Reasons = c.Profile.Name, []string{"it was chosen"}
		return
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		return
	}
	if vendor := vendorOfHost(u.Hostname()); vendor != "" {
		if f.Profile != vendor {
			f.Profile, f.Reasons = "", []string{}
		}
		f.sign(vendor, "the host is that vendor's")
		return
	}
	if server := strings.ToLower(a.header.Get("Server")); server == "databricks" {
		f.sign("unity", "the header Server is Databricks's")
	}
	for _, p := range Profiles() {
		if p.Path == "" || !strings.HasSuffix(strings.TrimRight(u.Path, "/"), p.Path) {
			continue
		}
		switch p.Name {
		case "nessie", "gravitino", "glue", "s3tables", "onelake", "oss-tables", "snowflake":
			// /iceberg is many vendors', and the others have hosts of their own.
		default:
			f.sign(p.Name, "it lies below "+p.Path)
		}
	}
	if strings.HasSuffix(u.Path, "/unity-catalog/iceberg") {
		f.sign("unity", "it lies below a path of Unity Catalog")
	}
	if f.Profile == "" && f.Open {
		switch {
		case uuidShape.MatchString(f.Prefix):
			f.sign("lakekeeper", "the prefix is a UUID")
		case strings.HasPrefix(f.Prefix, "catalogs/"):
			f.sign("unity", "the prefix is catalogs/ and a name")
		}
	}
	if f.Profile == "" {
		stray, err := k.do(ctx, call{kind: kindConfig, method: http.MethodGet, url: c.URL + "/v1/icefield/probe/no/such/route"})
		if err == nil && stray.status == http.StatusNotFound {
			if said, shaped := readRefusal(stray); shaped && said.kind == "NoSuchRouteException" {
				f.sign("icefield", "it speaks of routes as Icefield does")
			}
		}
	}
	if f.Profile == "" && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/iceberg") {
		f.Notes = append(f.Notes, `catalogs below /iceberg are often Nessie's or Gravitino's: set the profile if you know that it is one`)
	}
}
