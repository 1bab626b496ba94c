package warehouse

import (
	"errors"
	"strings"
	"testing"
)

func TestLocationsOfGoogleAndAzureAreReadAndCompared(t *testing.T) {
	for text, want := range map[string]string{
		"gs://lake/wh/t/":       "gs://lake/wh/t",
		"gs://la.ke_1-x/a b/é%": "gs://la.ke_1-x/a b/é%",
		"gs://lake":             "gs://lake/",
		"abfss://lake@account.dfs.core.windows.net/wh/t":       "abfss://lake@account.dfs.core.windows.net/wh/t",
		"abfs://lake@account.dfs.core.windows.net/wh/t/":       "abfs://lake@account.dfs.core.windows.net/wh/t",
		"wasbs://lake@account.blob.core.windows.net/wh/t":      "wasbs://lake@account.blob.core.windows.net/wh/t",
		"abfss://la-ke@acc0unt.z01.dfs.storage.azure.net/wh/t": "abfss://la-ke@acc0unt.z01.dfs.storage.azure.net/wh/t",
	} {
		l, err := Parse(text)
		if err != nil || l.String() != want {
			t.Errorf("%q became %q (%v), want %q", text, l, err, want)
		}
	}
	// One place each, in every spelling.
	for _, same := range [][]string{
		{"s3://lake/wh/t", "s3a://lake/wh/t", "s3n://lake/wh/t"},
		{"abfss://lake@account.dfs.core.windows.net/wh/t", "abfs://lake@account.dfs.core.windows.net/wh/t", "wasb://lake@account.blob.core.windows.net/wh/t",
			"wasbs://lake@account.blob.core.windows.net/wh/t", "abfss://lake@account.blob.core.windows.net/wh/t", "wasbs://lake@account.dfs.core.windows.net/wh/t/"},
		{"gs://lake/wh/t"},
	} {
		for _, one := range same {
			for _, other := range same {
				a, errA := Parse(one)
				b, errB := Parse(other)
				if errA != nil || errB != nil || !a.Within(b) || !b.Within(a) || a.canonical().String() != same[0] {
					t.Errorf("%s and %s are one place (%v, %v), and became %s", one, other, errA, errB, a.canonical())
				}
			}
		}
	}
	// Different places, however alike they look.
	different := []string{"gs://lake/wh/t", "s3://lake/wh/t", "gs://lake2/wh/t", "gs://lake/wh/T", "file:///lake/wh/t",
		"abfss://lake@account.dfs.core.windows.net/wh/t", "abfss://lake2@account.dfs.core.windows.net/wh/t", "abfss://lake@account2.dfs.core.windows.net/wh/t",
		"abfss://lake@account.dfs.core.chinacloudapi.cn/wh/t", "abfss://lake@account.z01.dfs.storage.azure.net/wh/t"}
	for i, one := range different {
		for j, other := range different {
			a, errA := Parse(one)
			b, errB := Parse(other)
			if errA != nil || errB != nil || a.Within(b) != (i == j) {
				t.Errorf("%s within %s: %v (%v, %v)", one, other, a.Within(b), errA, errB)
			}
		}
	}
}

func TestBucketsContainersAndAccountsThatCannotBeAreRefused(t *testing.T) {
	azure := "@account.dfs.core.windows.net/t"
	for _, text := range []string{
		"gs:", "gs://", "gs:///t", "gs:/lake/t", "gs://la/t", "gs://Lake/t", "gs://-lake/t", "gs://lake-/t", "gs://lake:443/t", "gs://user@lake/t", "gs://" + strings.Repeat("x", 223) + "/t",
		"gs://lake/a//b", "gs://lake/a/../b", "gs://lake/a/%2e%2e/b", "gs://lake/a?b", "gs://lake/a#b", "gcs://lake/t",
		"abfss:", "abfss://", "abfss:///t", "abfss://lake/t", "abfss://account.dfs.core.windows.net/t", "abfss://@account.dfs.core.windows.net/t", "abfss://lake@/t",
		"abfss://lake@account/t", "abfss://lake@account.dfs/t", "abfss://lake@dfs.core.windows.net/t", "abfss://lake@account.core.windows.net/t", "abfss://lake@account..dfs.core.windows.net/t",
		"abfss://lake@account.dfs.core.windows.net:443/t", "abfss://lake@account.dfs.core.windows.net./t", "abfss://lake@Account.dfs.core.windows.net/t",
		"abfss://lake@account-secondary.dfs.core.windows.net/t", "abfss://lake:secret@account.dfs.core.windows.net/t", "abfss://a@lake@account.dfs.core.windows.net/t",
		"abfss://Lake" + azure, "abfss://la" + azure, "abfss://-lake" + azure, "abfss://lake-" + azure, "abfss://la--ke" + azure, "abfss://" + strings.Repeat("x", 64) + azure,
		"abfss://lake@account.dfs.core.windows.net/t./x", "abfss://lake@account.dfs.core.windows.net/t/x.", "abfss://lake@account.dfs.core.windows.net/a/../b", "abfss://lake@account.dfs.core.windows.net/a?sv=1",
	} {
		l, err := Parse(text)
		var bad *BadLocation
		if !errors.As(err, &bad) || bad.Problem == "" {
			t.Errorf("%q is a location: %q (%v)", text, l, err)
		}
	}
}

func TestAzureAndGoogleWarehousesConfineTheirClients(t *testing.T) {
	for root, tests := range map[string]struct{ in, out []string }{
		"gs://lake/wh": {[]string{"gs://lake/wh/t", "gs://lake/wh/a/b/"}, []string{"gs://lake/wh", "gs://lake/wh2/t", "gs://other/wh/t", "s3://lake/wh/t", "/lake/wh/t"}},
		"abfss://lake@account.dfs.core.windows.net/wh": {
			[]string{"abfss://lake@account.dfs.core.windows.net/wh/t", "abfs://lake@account.dfs.core.windows.net/wh/t", "wasbs://lake@account.blob.core.windows.net/wh/t"},
			[]string{"abfss://lake@account.dfs.core.windows.net/wh", "abfss://lake@account.dfs.core.windows.net/wh2/t", "abfss://other@account.dfs.core.windows.net/wh/t",
				"abfss://lake@other.dfs.core.windows.net/wh/t", "abfss://lake@account.dfs.core.usgovcloudapi.net/wh/t"}},
	} {
		l, err := Parse(root)
		if err != nil {
			t.Fatal(err)
		}
		w := &Warehouse{root: l.canonical()}
		for _, text := range tests.in {
			if _, err := w.Confine(text); err != nil {
				t.Errorf("%s refused %s: %v", root, text, err)
			}
		}
		for _, text := range tests.out {
			var bad *BadLocation
			if l, err := w.Confine(text); !errors.As(err, &bad) {
				t.Errorf("%s let %s in as %s (%v)", root, text, l, err)
			}
		}
	}
}
