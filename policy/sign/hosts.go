package sign

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// hosts is how one bucket is addressed: by the hosts that name it, and by those
// whose paths begin with it. A host is compared whole, so nothing that begins or
// ends like one passes. A store of its own is addressed in one style only: another
// style would be another bucket to it.
type hosts struct {
	bucket string
	scheme string
	// virtual hosts name the bucket; path hosts have it in the path.
	virtual, path map[string]bool
	// checksBodies: the store refuses a body that is not the one signed for.
	checksBodies bool
}

// customHosts reads the endpoint of a store that is not AWS's.
func customHosts(endpoint, bucket string, pathStyle bool) (*hosts, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("sign: the endpoint of the store has to be http:// or https://, a host, and maybe a port")
	}
	host := uriParts{scheme: u.Scheme, authority: strings.ToLower(u.Host)}.host()
	h := &hosts{bucket: bucket, scheme: u.Scheme}
	if pathStyle {
		h.path = map[string]bool{host: true}
		return h, nil
	}
	if net.ParseIP(u.Hostname()) != nil {
		return nil, errors.New("sign: the endpoint of the store is an address, which cannot bear the bucket's name; set s3.path-style-access to \"true\"")
	}
	h.virtual = map[string]bool{strings.ToLower(bucket) + "." + host: true}
	return h, nil
}

// awsHosts are the addresses of a bucket in a region of AWS: regional, dual
// stack, FIPS, the old global and dashed ones, and acceleration.
func awsHosts(region, bucket string) (*hosts, error) {
	if region == "" || len(region) > 64 || strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, errors.New("sign: the region of the bucket is not known; set s3.region")
	}
	suffix := awsSuffix(region)
	h := &hosts{bucket: bucket, scheme: "https", checksBodies: true, virtual: map[string]bool{}, path: map[string]bool{}}
	for _, service := range []string{"s3", "s3.dualstack", "s3-fips", "s3-fips.dualstack"} {
		h.path[fmt.Sprintf("%s.%s.%s", service, region, suffix)] = true
	}
	if suffix == "amazonaws.com" {
		h.path["s3-"+region+"."+suffix] = true
		h.path["s3."+suffix] = true
		h.virtual[bucket+".s3-accelerate."+suffix] = true
		h.virtual[bucket+".s3-accelerate.dualstack."+suffix] = true
	}
	for host := range h.path {
		h.virtual[bucket+"."+host] = true
	}
	return h, nil
}

// awsSuffix is the domain of a region's partition.
func awsSuffix(region string) string {
	for prefix, suffix := range map[string]string{
		"cn-": "amazonaws.com.cn", "us-iso-": "c2s.ic.gov", "us-isob-": "sc2s.sgov.gov", "eu-isoe-": "cloud.adc-e.uk",
		"us-isof-": "csp.hci.ic.gov", "eu-isof-": "csp.hci.ic.gov", "eusc-": "amazonaws.eu",
	} {
		if strings.HasPrefix(region, prefix) {
			return suffix
		}
	}
	return "amazonaws.com"
}

// read finds out which object of the bucket a uri names.
func (h *hosts) read(uri string) (*target, error) {
	p, err := cutURI(uri)
	if err != nil {
		return nil, err
	}
	t := &target{scheme: p.scheme, host: p.host(), bucket: h.bucket}
	if p.scheme != h.scheme {
		return nil, forbid("over %s: the store of its files is reached over %s", p.scheme, h.scheme)
	}
	path := p.path
	switch {
	case h.virtual[t.host]:
	case h.path[t.host]:
		bucket, rest, _ := strings.Cut(path[1:], "/")
		if bucket != h.bucket {
			return nil, forbid("for another bucket than that of its files")
		}
		t.path, path = "/"+bucket, "/"+rest
		if rest == "" && !strings.HasSuffix(p.path, "/") {
			path = ""
		}
	default:
		return nil, forbid("for the host %s, which is not that of its files", quoted(t.host))
	}
	if strings.Contains(strings.ToUpper(path), "%2F") {
		return nil, bad("has an encoded slash in its uri, which some readers take for a slash and others do not")
	}
	key, err := decode(strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, err
	}
	if t.query, err = readQuery(p.query); err != nil {
		return nil, err
	}
	if key != "" {
		if err := checkKey(key); err != nil {
			return nil, err
		}
	}
	t.key = key
	if path != "" {
		t.path += "/" + encode(key, true)
	}
	return t, nil
}
