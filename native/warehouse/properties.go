package warehouse

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	icebergio "github.com/apache/iceberg-go/io"
)

// use is what becomes of a FileIO property.
type use uint8

const (
	// read: the server's own client reads it.
	read use = 1 << iota
	// told: engines are told it. No secret is, and nothing that says as whom to come.
	told
	// boolean: it is "true" or "false".
	boolean
)

// FileIO properties that are read here; the library reads the rest.
const (
	pathStyle    = "s3.path-style-access"
	forceVirtual = "s3.force-virtual-addressing"
	s3Region     = "s3.region"
	clientRegion = "client.region"
)

// properties are what may be set, by scheme. A name that ends in a dot goes on
// with an account or host. What is not here is refused instead of ignored, and a
// property that nobody thought of is told to nobody.
var properties = map[string]map[string]use{
	"s3": {
		icebergio.S3EndpointURL:     read | told,
		s3Region:                    read | told,
		clientRegion:                read | told,
		pathStyle:                   read | told | boolean,
		forceVirtual:                read | told | boolean,
		icebergio.S3AccessKeyID:     read,
		icebergio.S3SecretAccessKey: read,
		icebergio.S3SessionToken:    read,
		icebergio.S3ProxyURI:        read,
		icebergio.S3ConnectTimeout:  read,
		icebergio.S3CompatMode:      read | boolean,
	},
	"gs": {
		icebergio.GCSEndpoint:       read | told,
		icebergio.GCSServiceHost:    read | told,
		icebergio.GCSNoAuth:         read | boolean,
		icebergio.GCSUseJSONAPI:     read | boolean,
		icebergio.GCSKeyPath:        read,
		icebergio.GCSJSONKey:        read,
		icebergio.GCSCredType:       read,
		icebergio.GCSOAuthToken:     read,
		icebergio.GCSOAuthExpiresAt: read,
		gcsUserProject:              read | told,
		gcsProject:                  told,
	},
	"abfss": {
		icebergio.ADLSEndpoint:               read | told,
		icebergio.ADLSProtocol:               read | told,
		icebergio.ADLSSharedKeyAccountName:   read,
		icebergio.ADLSSharedKeyAccountKey:    read,
		icebergio.ADLSSasTokenPrefix:         read,
		icebergio.ADLSConnectionStringPrefix: read,
		icebergio.ADLSManagedIdentityEnabled: read | boolean,
		icebergio.ADLSClientID:               read,
	},
}

// Properties are the names of the storage properties that a warehouse takes, in
// order; where one goes on with an Azure account or its host, it ends in
// "<account>". A local warehouse takes none.
func Properties(root Location) []string {
	names := slices.Sorted(maps.Keys(properties[root.scheme]))
	for i, name := range names {
		if strings.HasSuffix(name, ".") {
			names[i] += "<account>"
		}
	}
	return names
}

// CheckProperty says what is wrong with a storage property, as a sentence about
// it; "" if nothing is. Nothing of the value is repeated.
func CheckProperty(root Location, name, value string) string {
	use, ok := properties[root.scheme][name]
	if !ok {
		for prefix, u := range properties[root.scheme] {
			if strings.HasSuffix(prefix, ".") && strings.HasPrefix(name, prefix) && len(name) > len(prefix) {
				use, ok = u, true
			}
		}
	}
	if !ok || strings.HasSuffix(name, ".") {
		return fmt.Sprintf("Nothing reads the property %q: this warehouse is %s.", name, root.scheme)
	}
	if use&boolean != 0 {
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Sprintf("The property %q is either \"true\" or \"false\".", name)
		}
	}
	return ""
}

// checkProperties refuses what CheckProperty does.
func checkProperties(root Location, storage map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(storage)) {
		if problem := CheckProperty(root, name, storage[name]); problem != "" {
			return fmt.Errorf("warehouse: %s", problem)
		}
	}
	return nil
}

// clientHints picks what engines need to reach the files. What Java and PyIceberg
// read under two names goes out under both.
func clientHints(scheme string, storage map[string]string) map[string]string {
	hints := map[string]string{}
	for name, use := range properties[scheme] {
		if v := storage[name]; use&told != 0 && v != "" {
			hints[name] = v
		}
	}
	both := func(one, other string) {
		if hints[one] == "" && hints[other] != "" {
			hints[one] = hints[other]
		}
		if hints[other] == "" && hints[one] != "" {
			hints[other] = hints[one]
		}
	}
	switch scheme {
	case "s3":
		both(s3Region, clientRegion)
		delete(hints, pathStyle)
		if usesPathStyle(storage) {
			hints[pathStyle] = "true"
		} else if storage[pathStyle] != "" {
			hints[pathStyle] = "false"
		}
	case "gs":
		both(icebergio.GCSServiceHost, icebergio.GCSEndpoint)
		if anonymous, _ := strconv.ParseBool(storage[icebergio.GCSNoAuth]); anonymous {
			hints[icebergio.GCSNoAuth] = "true"
		}
	}
	return hints
}
