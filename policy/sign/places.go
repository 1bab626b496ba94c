package sign

import "strings"

// Locations are the places, as "s3://bucket/key", that a request to sign may be
// about: the object, what it lists, or the first of those that it deletes. It is
// how the route that names no table finds one, and gives nobody a right:
// SignRequest checks everything anew. The bucket stands in the host or in the
// path; where the host does not say which, both are tried, the likelier first.
// BadRequest for what cannot be read.
func Locations(body []byte) ([]string, error) {
	r, err := readRequest(body)
	if err != nil {
		return nil, err
	}
	p, err := cutURI(r.uri)
	if err != nil {
		return nil, err
	}
	query, err := readQuery(p.query)
	if err != nil {
		return nil, err
	}
	inPath := func() (bucket, key string) {
		bucket, key, _ = strings.Cut(p.path[1:], "/")
		return bucket, key
	}
	host, _, _ := strings.Cut(p.host(), ":")
	var readings [][2]string
	add := func(bucket, key string) {
		if bucket != "" {
			readings = append(readings, [2]string{bucket, key})
		}
	}
	switch bucket, aws := awsBucket(host); {
	case aws && bucket == "":
		add(inPath())
	case aws:
		add(bucket, p.path[1:])
	default:
		add(inPath())
		label, _, _ := strings.Cut(host, ".")
		add(label, p.path[1:])
	}
	var places []string
	for _, reading := range readings {
		key, err := decode(reading[1])
		if err != nil {
			return nil, err
		}
		t := target{query: query}
		if listed, ok := t.get("prefix"); ok && key == "" {
			key = listed
		}
		if _, deletes := t.get("delete"); deletes && key == "" && r.hasBody {
			keys, err := readDeletes(r.body)
			if err != nil {
				return nil, err
			}
			key = keys[0]
		}
		if key = strings.TrimRight(key, "/"); key != "" {
			places = append(places, "s3://"+reading[0]+"/"+key)
		}
	}
	if len(places) == 0 {
		return nil, bad("names no object")
	}
	return places, nil
}

// Location is the likeliest of Locations.
func Location(body []byte) (string, error) {
	places, err := Locations(body)
	if err != nil {
		return "", err
	}
	return places[0], nil
}

// awsBucket is the bucket in a host of AWS's; empty for one that has it in the
// path.
func awsBucket(host string) (bucket string, aws bool) {
	if !strings.Contains(host, ".amazonaws.") && !strings.HasSuffix(host, ".ic.gov") && !strings.HasSuffix(host, ".sgov.gov") && !strings.HasSuffix(host, ".hci.ic.gov") {
		return "", false
	}
	for _, service := range []string{".s3.", ".s3-"} {
		if at := strings.LastIndex(host, service); at > 0 {
			return host[:at], true
		}
	}
	if strings.HasPrefix(host, "s3.") || strings.HasPrefix(host, "s3-") {
		return "", true
	}
	return "", false
}
