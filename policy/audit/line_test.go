package audit

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit/audittest"
)

var noon = time.Date(2026, 8, 2, 12, 0, 0, 123456789, time.FixedZone("", 7200))

func sample() policy.Event {
	return policy.Event{
		Principal: &policy.Principal{ID: "corp/alice", Name: "alice", Tenant: "acme", Roles: []string{"admin"}, Login: "oidc"},
		Client:    policy.Client{Addr: netip.MustParseAddr("::ffff:192.0.2.7")},
		RequestID: "5f1c", Action: "renameTable", Catalog: "icefield",
		Resource: policy.Resource{Kind: policy.KindTable, Mount: "prod", Path: mounts.Namespace{"prod", "a"}, Name: "t", Tenant: "acme"},
		More:     []policy.Resource{{Kind: policy.KindTable, Mount: "prod", Path: mounts.Namespace{"prod", "b"}, Name: "t"}},
		Policies: []string{"builtin/admin", "team#2"}, Outcome: policy.Done, Result: "ok",
		Storage: mounts.WriteStorage, Restricted: true,
		Remote: mounts.RemoteCall{Identity: "icefield", Status: 204},
	}
}

func TestALineHasTheDesignsFieldsInTheirOrder(t *testing.T) {
	e := sample()
	require.Equal(t, `{"time":"2026-08-02T10:00:00.123456Z","request_id":"5f1c","principal":"corp/alice","tenant":"acme",`+
		`"operation":"renameTable","mount":"prod","resource":"Table::\"prod/a/t\"","outcome":"done","policies":["builtin/admin","team#2"],`+
		`"remote_identity":"icefield","remote_status":204,"client":"192.0.2.7",`+
		`"catalog":"icefield","login":"oidc","result":"ok","storage":"write","restricted":true,"more":["Table::\"prod/b/t\""]}`+"\n",
		string(appendEvent(nil, noon, &e)))
	require.Equal(t, `{"time":"2026-08-02T10:00:00.123456Z","request_id":null,"principal":null,"tenant":null,`+
		`"operation":"authenticate","mount":null,"resource":null,"outcome":"refused","policies":[],`+
		`"remote_identity":null,"remote_status":null,"client":null}`+"\n",
		string(appendEvent(nil, noon, &policy.Event{Action: "authenticate", Outcome: policy.Refused})))
}

func TestTheLineOfALossHasTheSameFields(t *testing.T) {
	keys := func(line []byte) (names []string) {
		d := json.NewDecoder(bytes.NewReader(line))
		_, err := d.Token()
		require.NoError(t, err)
		for d.More() && len(names) < 12 {
			name, err := d.Token()
			require.NoError(t, err)
			names = append(names, name.(string))
			var value any
			require.NoError(t, d.Decode(&value))
		}
		return names
	}
	e := sample()
	require.Equal(t, keys(appendEvent(nil, noon, &e)), keys(appendLoss(nil, noon, 3, 1, noon)))
}

// What an event holds is listed here by hand: a field that is added has to be
// looked at, and whatever could carry a secret must not come near the trail.
func TestNothingInAnEventCouldHoldASecret(t *testing.T) {
	want := map[reflect.Type][]string{
		reflect.TypeFor[policy.Event]():      {"Principal", "Client", "RequestID", "Action", "Catalog", "Resource", "More", "Policies", "Outcome", "Result", "Storage", "Restricted", "Remote"},
		reflect.TypeFor[policy.Principal]():  {"ID", "Name", "Tenant", "Roles", "Operator", "Login", "Forwardable"},
		reflect.TypeFor[policy.Client]():     {"Addr"},
		reflect.TypeFor[policy.Resource]():   {"Kind", "Mount", "Path", "Name", "Tenant"},
		reflect.TypeFor[mounts.RemoteCall](): {"Identity", "Status"},
	}
	for typ, fields := range want {
		var have []string
		for i := range typ.NumField() {
			have = append(have, typ.Field(i).Name)
		}
		require.Equal(t, fields, have, "%v: a new field is either written or left out on purpose, and is no secret", typ)
	}
}

// cedarText is the text of an entity, by the longest way.
func cedarText(r policy.Resource) string {
	return string(r.Kind) + `::"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.ID()) + `"`
}

func FuzzNoNameBreaksALine(f *testing.F) {
	for _, s := range []string{"t", "a/b", "50%", "x\ny", "\r", "\u2028\u2029", "\xff\xfe", `"`, `\`, `","outcome":"denied`, "\u202egnp", "\x00", "é", "🧊", "\u0085", "\u00a0", "\U000e0001", ""} {
		f.Add(s, "n", "id", "p")
		f.Add("n", s, "id", "p")
		f.Add("n", "t", s, s)
	}
	f.Add(strings.Repeat("\u2028", 800), strings.Repeat("x", 3000), "id", strings.Repeat("p", 800))
	f.Fuzz(func(t *testing.T, level, name, id, rule string) {
		e := sample()
		e.Resource.Path, e.Resource.Name = mounts.Namespace{level, level}, name
		e.RequestID, e.Policies = id, []string{rule, rule}
		e.Principal = &policy.Principal{ID: rule, Tenant: name, Login: id}
		e.Remote.Identity, e.Result, e.Outcome, e.Catalog, e.Action = level, level, level, level, policy.Action(name)
		e.More = slices.Repeat([]policy.Resource{e.Resource}, 40)
		line := appendEvent(nil, noon, &e)

		require.LessOrEqual(t, len(line), MaxLine)
		require.True(t, json.Valid(line), "%q", line)
		require.True(t, utf8.Valid(line))
		for i, r := range string(line) {
			if !unicode.IsPrint(r) && i != len(line)-1 {
				t.Fatalf("%q is written as it is", r)
			}
		}
		read, torn := audittest.Parse(line)
		require.Zero(t, torn)
		require.Len(t, read, 1)
		got := read[0]
		if got.Cut["request_id"] == 0 {
			require.Equal(t, strings.ToValidUTF8(id, "\ufffd"), squeeze(got.RequestID, id))
		}
		if got.Cut["resource"] == 0 && utf8.ValidString(level) && utf8.ValidString(name) {
			require.Equal(t, cedarText(e.Resource), got.Resource)
		}
		if got.Cut["more"] == 0 {
			require.Len(t, got.More, 40)
		} else {
			require.Equal(t, 40, len(got.More)+got.Cut["more"])
		}
		require.Equal(t, 2, len(got.Policies)+got.Cut["policies"])
	})
}

// squeeze makes one U+FFFD of a run of them where the text is not UTF-8, as
// strings.ToValidUTF8 does.
func squeeze(got, of string) string {
	if utf8.ValidString(of) {
		return got
	}
	for strings.Contains(got, "\ufffd\ufffd") {
		got = strings.ReplaceAll(got, "\ufffd\ufffd", "\ufffd")
	}
	return got
}

func TestNamesThatAreNotUTF8StayDifferent(t *testing.T) {
	text := func(name string) string {
		b, whole := appendEntity(nil, &policy.Resource{Kind: policy.KindTable, Name: name}, 1000)
		require.True(t, whole)
		return string(b)
	}
	require.Equal(t, `Table::\"%FF\"`, text("\xff"))
	require.Equal(t, `Table::\"%25FF\"`, text("%FF"))
	require.NotEqual(t, text("\xfe"), text("\xff"))
	require.Equal(t, `Table::\"�\"`, text("�"))
}

func TestWhatIsTooLongIsCutAndSaysSo(t *testing.T) {
	long := func(last string) policy.Event {
		e := sample()
		e.Resource.Name = strings.Repeat("é", 5000) + last
		e.Policies = slices.Repeat([]string{strings.Repeat("p", 90)}, 100)
		e.More = slices.Repeat([]policy.Resource{{Kind: policy.KindTable, Path: mounts.Namespace{"prod"}, Name: strings.Repeat("x", 200)}}, 5000)
		return e
	}
	a, b := long("a"), long("b")
	la, torn := audittest.Parse(appendEvent(nil, noon, &a))
	require.Zero(t, torn)
	lb, _ := audittest.Parse(appendEvent(nil, noon, &b))
	require.NotEqual(t, la[0].Resource, lb[0].Resource, "two that begin alike stay different")
	require.Contains(t, la[0].Resource, "…#")
	require.Equal(t, len(a.Resource.ID()), la[0].Cut["resource"])
	require.Positive(t, len(la[0].Policies))
	require.Equal(t, 100, len(la[0].Policies)+la[0].Cut["policies"])
	require.Greater(t, len(la[0].More), 100)
	require.Equal(t, 5000, len(la[0].More)+la[0].Cut["more"])
}

func TestTheLongestLineThereIs(t *testing.T) {
	worst := strings.Repeat("\u2028", 40000)
	e := policy.Event{
		Principal: &policy.Principal{ID: worst, Tenant: worst, Login: worst}, RequestID: worst, Action: policy.Action(worst), Catalog: worst,
		Resource: policy.Resource{Kind: policy.KindFunction, Mount: worst, Path: mounts.Namespace{worst}, Name: worst},
		Policies: slices.Repeat([]string{"p"}, 10000), More: slices.Repeat([]policy.Resource{{Kind: policy.KindTable}}, 10000),
		Outcome: worst, Result: worst, Storage: mounts.ReadStorage, Restricted: true, Remote: mounts.RemoteCall{Identity: worst, Status: 1 << 40},
		Client: policy.Client{Addr: netip.MustParseAddr("2001:db8:1111:2222:3333:4444:5555:6666%eth0")},
	}
	line := appendEvent(nil, noon, &e)
	require.Greater(t, len(line), MaxLine/2)
	require.LessOrEqual(t, len(line), MaxLine)
	require.True(t, json.Valid(line))
}

func TestAnEntityIsWrittenAsPolicyNamesIt(t *testing.T) {
	for _, r := range []policy.Resource{
		{Kind: policy.KindServer},
		{Kind: policy.KindMount, Mount: "prod"},
		{Kind: policy.KindMount, Mount: mounts.UnderName},
		{Kind: policy.KindNamespace, Path: mounts.Namespace{"prod", "a/b", "50%", "x\ty"}},
		{Kind: policy.KindView, Path: mounts.Namespace{"a"}, Name: `say "hi" \o/`},
		{Kind: policy.KindFunction, Name: "f"},
	} {
		b, whole := appendEntity([]byte{'"'}, &r, 1000)
		require.True(t, whole)
		var text string
		require.NoError(t, json.Unmarshal(append(b, '"'), &text))
		require.Equal(t, cedarText(r), text)
	}
}

func TestTimesAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	for _, at := range []time.Time{noon, {}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(12345, 1, 2, 3, 4, 5, 6, time.UTC)} {
		require.Equal(t, at.UTC().Format(timeFormat), string(appendTime(nil, at)))
	}
}
