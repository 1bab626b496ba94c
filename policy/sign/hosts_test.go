package sign

import (
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestABucketOfAWSIsReachedByTheHostsOfItsOwnRegionOnly(t *testing.T) {
	for _, c := range []struct {
		region string
		uri    string
		ok     bool
	}{
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com/wh/t1/x", true},
		{"eu-central-1", "https://LAKE.s3.eu-central-1.amazonaws.com:443/wh/t1/x", true},
		{"eu-central-1", "https://s3.eu-central-1.amazonaws.com/lake/wh/t1/x", true},
		{"eu-central-1", "https://s3-eu-central-1.amazonaws.com/lake/wh/t1/x", true},
		{"eu-central-1", "https://lake.s3.dualstack.eu-central-1.amazonaws.com/wh/t1/x", true},
		{"eu-central-1", "https://lake.s3-fips.eu-central-1.amazonaws.com/wh/t1/x", true},
		{"eu-central-1", "https://lake.s3.amazonaws.com/wh/t1/x", true},
		{"eu-central-1", "https://s3.amazonaws.com/lake/wh/t1/x", true},
		{"eu-central-1", "https://lake.s3-accelerate.amazonaws.com/wh/t1/x", true},
		{"cn-north-1", "https://lake.s3.cn-north-1.amazonaws.com.cn/wh/t1/x", true},
		{"us-gov-west-1", "https://lake.s3.us-gov-west-1.amazonaws.com/wh/t1/x", true},
		{"us-iso-east-1", "https://lake.s3.us-iso-east-1.c2s.ic.gov/wh/t1/x", true},
		{"us-isob-east-1", "https://s3.us-isob-east-1.sc2s.sgov.gov/lake/wh/t1/x", true},
		{"eu-central-1", "http://lake.s3.eu-central-1.amazonaws.com/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com:8443/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.us-east-1.amazonaws.com/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com.cn/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com.evil.example/wh/t1/x", false},
		{"eu-central-1", "https://evil-lake.s3.eu-central-1.amazonaws.com/wh/t1/x", false},
		{"eu-central-1", "https://other.s3.eu-central-1.amazonaws.com/lake/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com/lake/wh/t1/x", false},
		{"eu-central-1", "https://s3.eu-central-1.amazonaws.com/wh/t1/x", false},
		{"eu-central-1", "https://s3-accelerate.amazonaws.com/lake/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3-website.eu-central-1.amazonaws.com/wh/t1/x", false},
		{"eu-central-1", "https://lake.s3.eu-central-1.amazonaws.com./wh/t1/x", false},
		{"eu-central-1", "https://1-lake.s3-control.eu-central-1.amazonaws.com/wh/t1/x", false},
		{"cn-north-1", "https://lake.s3.cn-north-1.amazonaws.com/wh/t1/x", false},
		{"cn-north-1", "https://lake.s3.amazonaws.com/wh/t1/x", false}, // a partition of its own has no global host
	} {
		b, _ := signed1(t, func(o *Options) {
			o.Storage = map[string]string{"s3.region": c.region, "s3.access-key-id": "KEYID", "s3.secret-access-key": secret}
		})
		doc, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", c.uri))
		if (err == nil) != c.ok {
			t.Errorf("%s in %s: %v", c.uri, c.region, err)
		}
		if err == nil {
			asked, _ := readRequest([]byte(ask("GET", c.uri)))
			if err := verify(sent(t, asked, doc), secret); err != nil {
				t.Errorf("%s: %v", c.uri, err)
			}
		}
	}
}

// A store takes a path-style request at a virtual host for another bucket, and
// the other way round: only the mount's own style is signed.
func TestAStoreIsReachedInTheMountsOwnStyleOnly(t *testing.T) {
	const path, virtual = "http://store.local:8333/lake/wh/t1/x", "http://lake.store.local:8333/wh/t1/x"
	for _, c := range []struct {
		set  map[string]string
		path bool
	}{
		{map[string]string{}, true},
		{map[string]string{"s3.path-style-access": "true"}, true},
		{map[string]string{"s3.path-style-access": "false"}, false},
		{map[string]string{"s3.force-virtual-addressing": "true"}, false},
		{map[string]string{"s3.force-virtual-addressing": "false", "s3.path-style-access": "false"}, true},
	} {
		b, _ := signed1(t, func(o *Options) {
			o.Storage = storage()
			o.Storage["s3.endpoint"] = "http://Store.local:8333/"
			for name, value := range c.set {
				o.Storage[name] = value
			}
		})
		for uri, want := range map[string]bool{path: c.path, virtual: !c.path} {
			if _, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", uri)); (err == nil) != want {
				t.Errorf("%v: %s: %v", c.set, uri, err)
			}
		}
	}
	for what, set := range map[string]map[string]string{
		"an address that would bear a bucket": {"s3.endpoint": "http://127.0.0.1:8333", "s3.path-style-access": "false"},
		"an endpoint with a path":             {"s3.endpoint": "https://gateway.example/s3"},
		"an endpoint with a login":            {"s3.endpoint": "https://a:b@gateway.example"},
		"an endpoint that is none":            {"s3.endpoint": "gateway.example"},
		"a region that is none":               {"s3.region": "eu.evil.example/"},
	} {
		set["s3.access-key-id"], set["s3.secret-access-key"] = "KEYID", secret
		if _, err := Around((&registry{}).backend(), Options{Warehouse: "s3://lake/wh", Storage: set}); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if _, err := Around((&registry{}).backend(), Options{Warehouse: "gs://lake/wh", Storage: storage()}); err == nil {
		t.Error("a warehouse elsewhere is taken")
	}
}
