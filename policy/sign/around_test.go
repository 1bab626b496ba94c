package sign

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func TestALoadThatAsksForSigningIsToldHow(t *testing.T) {
	for _, c := range []struct {
		delegation string
		access     mounts.StorageAccess
		vends      bool
		table      string
		signs      bool
	}{
		{"remote-signing", mounts.ReadStorage, false, "t1", true},
		{"remote-signing", mounts.WriteStorage, true, "t1", true},
		{"vended-credentials, Remote-Signing", mounts.ReadStorage, false, "t1", true},
		{"remote-signing,vended-credentials", mounts.WriteStorage, true, "t1", false},
		{"vended-credentials", mounts.WriteStorage, false, "t1", false},
		{"", mounts.WriteStorage, false, "t1", false},
		{"remote-signing", mounts.NoStorage, false, "t1", false},
		{"remote-signing", mounts.WriteStorage, false, "out", false},
		{"remote-signing", mounts.WriteStorage, false, "other", false},
		{"remote-signing", mounts.WriteStorage, false, "local", false},
	} {
		b, r := signed1(t, func(o *Options) { o.Vends = c.vends })
		id, ctx := ident(c.table), caller(c.access)
		for name, req := range map[string]mounts.Request{
			"load":     &mounts.LoadTableRequest{Table: id, Delegation: c.delegation, IfNoneMatch: `"x"`},
			"create":   &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Delegation: c.delegation},
			"register": &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: id.Name, Delegation: c.delegation},
			"stage":    &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Delegation: c.delegation, StageCreate: true},
		} {
			resp, err := mounts.Invoke(ctx, b, req)
			if err != nil {
				t.Fatal(err)
			}
			got := resp.(*mounts.Table)
			if want := c.signs && name != "stage"; (got.Signing != nil) != want || (got.ETag == "") != want {
				t.Errorf("%s of %s for %q with %v access: signing %v, tag %q", name, c.table, c.delegation, c.access, got.Signing, got.ETag)
			}
			if got.Signing == nil {
				continue
			}
			if got.Signing.Config["s3.remote-signing-enabled"] != "true" || got.Signing.Config["client.region"] != "eu-central-1" || got.Signing.State != "" || got.Config["s3.endpoint"] == "" {
				t.Errorf("%s: %+v", name, got.Signing)
			}
			if all := strings.Join(slices.Collect(maps.Values(got.Signing.Config)), " "); strings.Contains(all, secret) || strings.Contains(all, "KEYID") {
				t.Errorf("%s: %s", name, all)
			}
			if load, ok := r.asked[len(r.asked)-1].(*mounts.LoadTableRequest); ok && load.IfNoneMatch != "" {
				t.Error("the client's tag is looked at")
			}
		}
	}
}

func TestSigningAddsToWhatABackendCanAndHidesNothing(t *testing.T) {
	b, _ := signed1(t)
	if got := b.Capabilities(); got != capabilities.Of(capabilities.LoadTable, capabilities.CreateTable, capabilities.SignRequest) {
		t.Errorf("%v", got.Endpoints())
	}
	if _, ok := mounts.As[interface{ Unwrap() mounts.Backend }](b); !ok {
		t.Error("what it stands around is hidden")
	}
	if err := b.DropTable(caller(mounts.WriteStorage), &mounts.DropTableRequest{Table: ident("t1")}); !errors.Is(err, mounts.UnsupportedOperation) {
		t.Errorf("%v", err)
	}
}

func TestATableIsSignedForWhereItLiesNow(t *testing.T) {
	b, r := signed1(t)
	if _, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", inTable+"x")); err != nil {
		t.Fatal(err)
	}
	// It moved: the location that was remembered is another version's.
	r.tables["t1"] = "s3a://lake/wh/moved/"
	if _, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", inTable+"x")); !errors.Is(err, mounts.Forbidden) {
		t.Errorf("where it was: %v", err)
	}
	if _, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", endpoint+"/lake/wh/moved/x")); err != nil {
		t.Errorf("where it is: %v", err)
	}
	for table, kind := range map[string]mounts.Kind{"out": mounts.Forbidden, "other": mounts.Forbidden, "local": mounts.Forbidden, "none": mounts.NoSuchTable} {
		_, err := signFor(b, mounts.WriteStorage, table, ask("GET", inTable+"x"))
		if e := mounts.AsError(err); err == nil || e.Kind != kind || e.Op != capabilities.SignRequest || e.Ident.Name != table {
			t.Errorf("%s: %v", table, err)
		}
	}
	// A location that some reader decodes.
	for location, ok := range map[string]bool{"s3://lake/wh/a%20b": true, "s3://lake/wh/..": false, "s3://lake/wh//x": false, "s3://lake/wh": false, "s3://lake/": false, "s3://lake/whx": false, "s3://lake/wh/%2e%2e/x": false} {
		r.tables["odd"] = location
		uri := endpoint + "/lake/" + encode(strings.TrimPrefix(location, "s3://lake/"), true) + "/x"
		if _, err := signFor(b, mounts.ReadStorage, "odd", ask("GET", uri)); (err == nil) != ok {
			t.Errorf("%s: %v", location, err)
		}
	}
}

func TestWithoutKeysNothingIsSignedAndNothingOfThemIsTold(t *testing.T) {
	failing := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("the vault at 10.0.0.1 says no to s3cret")
	})
	b, _ := signed1(t, func(o *Options) { o.Credentials = failing })
	_, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", inTable+"x"))
	if e := mounts.AsError(err); err == nil || e.Kind != mounts.BadGateway || !e.Answered || strings.Contains(e.Message(), "vault") {
		t.Errorf("%v", err)
	}
	// What is refused is refused first, with no use of the keys.
	if _, err := signFor(b, mounts.ReadStorage, "t1", ask("GET", endpoint+"/lake/wh/t2/x")); !errors.Is(err, mounts.Forbidden) {
		t.Errorf("%v", err)
	}
	session := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "KEYID", SecretAccessKey: secret, SessionToken: "session"}, nil
	})
	b, _ = signed1(t, func(o *Options) { o.Credentials = session })
	text := ask("GET", inTable+"x")
	doc, err := signFor(b, mounts.ReadStorage, "t1", text)
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := readRequest([]byte(text))
	s := sent(t, asked, doc)
	if err := verify(s, secret); err != nil || s.header["x-amz-security-token"] != "session" {
		t.Errorf("%v, %v", err, s.header)
	}
}

func TestTheRouteWithoutATableFindsOutWhatARequestIsAbout(t *testing.T) {
	body := deletes
	for text, want := range map[string]string{
		ask("GET", "https://lake.s3.eu-central-1.amazonaws.com/wh/t1/a%20b"): "s3://lake/wh/t1/a b",
		ask("GET", "https://s3.eu-central-1.amazonaws.com/lake/wh/t1/x"):     "s3://lake/wh/t1/x",
		ask("GET", "https://s3.lake.s3-accelerate.amazonaws.com/wh/t1/x"):    "s3://s3.lake/wh/t1/x",
		ask("GET", "https://s3-lake.s3.eu-central-1.amazonaws.com/wh/t1/x"):  "s3://s3-lake/wh/t1/x",
		ask("GET", inTable+"x"):                                                 "s3://lake/wh/t1/x s3://store/lake/wh/t1/x",
		ask("GET", "http://lake.store.example/wh/t1/x"):                         "s3://wh/t1/x s3://lake/wh/t1/x",
		ask("GET", endpoint+"/lake?list-type=2&prefix=wh%2Ft1%2F"):              "s3://lake/wh/t1 s3://store/lake",
		ask("GET", "https://lake.s3.amazonaws.com/?list-type=2&prefix=wh/t1/x"): "s3://lake/wh/t1/x",
		askBody("POST", "https://lake.s3.amazonaws.com/?delete", &body):         "s3://lake/wh/t1/data/a&b.parquet",
		ask("GET", "https://lake.s3.amazonaws.com/"):                            "",
		ask("GET", "https://lake.s3.amazonaws.com/a?x=%zz"):                     "",
		ask("GET", "https://a@lake.s3.amazonaws.com/a"):                         "",
		"{}": "",
	} {
		places, err := Locations([]byte(text))
		if got := strings.Join(places, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if first, _ := Location([]byte(text)); want != "" && first != places[0] {
			t.Errorf("%s: %s", text, first)
		}
		if err != nil && !errors.Is(err, mounts.BadRequest) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
