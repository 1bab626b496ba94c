//go:build peers

package governed

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit/audittest"
)

// testAudit looks for what the tests before it did. It comes last.
func testAudit(t *testing.T, s *scene) {
	lines, torn, err := audittest.Read(s.audit)
	if err != nil || torn > 0 {
		t.Fatalf("%d lines are torn, %v", torn, err)
	}
	count := map[string]int{}
	for _, l := range lines {
		count[fmt.Sprint(l.Principal, " ", l.Operation, " ", l.Resource, " ", l.Outcome)]++
	}
	for what, least := range map[string]int{
		`key/writer createTable Table::"lake/sales/orders" permitted`:     1,
		`key/writer createTable Table::"lake/sales/orders" done`:          1,
		`key/writer dropTable Table::"lake/sales/staged" denied`:          1,
		`key/admin dropTable Table::"lake/sales/staged" done`:             1,
		`key/reader commitTable Table::"lake/sales/orders" denied`:        1,
		`key/reader signRequest Table::"signed/sales/orders" denied`:      1,
		`corp/etl commitTransaction Table::"lake/sales/orders2" done`:     1,
		`corp/sam loadCredentials Table::"lake/crm/customers" denied`:     1,
		`key/globex loadTable Table::"lake/sales/orders" denied`:          1,
		`key/writer loadCredentials Table::"brief/engines/events" issued`: 1, // Spark, which renewed them by itself
	} {
		if count[what] < least {
			t.Errorf("the trail has %d lines %q", count[what], what)
		}
	}
	issued, widths, failed := 0, map[string]int{}, 0
	for _, l := range lines {
		switch {
		case l.Outcome == policy.Issued:
			issued++
			widths[l.Storage]++
		case l.Operation == "authenticate" && l.Outcome == policy.Refused:
			failed++
		}
	}
	if issued == 0 || failed == 0 || len(widths) != 2 {
		t.Errorf("%d times something was issued (%v), and %d logins failed", issued, widths, failed)
	}
	t.Logf("%d lines: access to storage was issued %d times (%v), and %d logins failed", len(lines), issued, widths, failed)
	for what, n := range count {
		if strings.Contains(what, "loadCredentials") {
			t.Logf("%d × %s", n, what)
		}
	}
}

// testSecretsStayIn looks for what must be neither in the trail nor in the log.
func testSecretsStayIn(t *testing.T, s *scene) {
	trail, err := os.ReadFile(s.audit)
	if err != nil {
		t.Fatal(err)
	}
	_, g := s.as(t, "writer", "lake").ask(t, 200, vended, "GET", orders, nil)
	secrets := []string{s.store.SecretKey, password("etl"), g.Config["s3.secret-access-key"], g.Config["s3.session-token"], s.issuer.token(t, "etl"), "X-Amz-Signature", "AWS4-HMAC"}
	for _, key := range s.keys {
		secrets = append(secrets, key)
	}
	log := s.icefield.Output()
	if !strings.Contains(log, "loadTable") || slices.Contains(secrets, "") {
		t.Fatal("there is nothing to hunt for, or nowhere")
	}
	for _, secret := range secrets {
		for where, text := range map[string]string{"trail": string(trail), "log": log} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s holds %.8q…", where, secret)
			}
		}
	}
}
