package capabilities

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryOperationHasOneCompleteRowInConstantOrder(t *testing.T) {
	seenName, seenEndpoint := map[string]bool{}, map[string]bool{}
	rows := Operations()
	if len(rows) != int(end)-1 {
		t.Fatalf("%d rows for %d operations", len(rows), end-1)
	}
	for i, row := range rows {
		if row.Op != Op(i+1) || row.Op.Row() != row {
			t.Errorf("row %d is %v", i, row.Op)
		}
		if row.Name == "" || row.Method == "" || row.Verb == "" || row.Class == 0 || row.Role == 0 || row.Group == "" {
			t.Errorf("row %+v is incomplete", row)
		}
		if !strings.HasPrefix(row.Path, "/v1/{prefix}/") {
			t.Errorf("%s: path %q has no prefix placeholder", row.Name, row.Path)
		}
		if seenName[row.Name] || seenEndpoint[row.Endpoint()] {
			t.Errorf("%s or its route stands twice", row.Name)
		}
		seenName[row.Name], seenEndpoint[row.Endpoint()] = true, true
	}
}

func TestValuesThatAreNoOperationAreInNoSet(t *testing.T) {
	for _, op := range []Op{0, end, 200} {
		if Of(op) != 0 || All().Has(op) || op.String() != "unknown" {
			t.Errorf("%d counts as an operation", op)
		}
	}
}

func TestDefaultIsTheFourteenOfTheSpec(t *testing.T) {
	if n := Default().Len(); n != 14 {
		t.Fatalf("%d operations in the spec's default list", n)
	}
	for _, op := range []Op{TableExists, NamespaceExists, ListViews, LoadCredentials, PlanScan} {
		if Default().Has(op) {
			t.Errorf("%v is not in the spec's default list", op)
		}
	}
}

func TestEndpointListsRoundTrip(t *testing.T) {
	for _, set := range []Set{All(), Default(), Floor(), Of(LoadTable)} {
		got, malformed := FromEndpoints(set.Endpoints())
		if got != set || malformed != 0 {
			t.Errorf("%v came back as %v, %d malformed", set.Endpoints(), got.Endpoints(), malformed)
		}
	}
}

func TestMalformedEndpointsAreDroppedAndAnEmptyRestCountsAsAbsent(t *testing.T) {
	bad := []string{"", "GET", "GET  /v1/{prefix}/namespaces", "/v1/x", " /v1/x", "GET v1", "GET /v1/a b"}
	set, malformed := FromEndpoints(bad)
	if set != Default() || malformed != len(bad) {
		t.Errorf("got %v, %d malformed", set.Endpoints(), malformed)
	}
	set, malformed = FromEndpoints(append(bad, "GET /v1/{prefix}/namespaces"))
	if set != Of(ListNamespaces) || malformed != len(bad) {
		t.Errorf("got %v, %d malformed", set.Endpoints(), malformed)
	}
	// A vendor's own endpoints are well-formed, so the list is authoritative.
	if set, _ := FromEndpoints([]string{"GET /polaris/v1/{prefix}/policies"}); set != 0 {
		t.Errorf("a list of vendor endpoints gave %v", set.Endpoints())
	}
}

func TestChangesAreTheWritesButReportsAndPlans(t *testing.T) {
	for _, row := range Operations() {
		want := row.Class != Read && row.Op != ReportMetrics && row.Op != CancelPlan
		if Changes().Has(row.Op) != want {
			t.Errorf("%s counts as a change: %v", row.Name, !want)
		}
	}
}

func TestSetAlgebra(t *testing.T) {
	a, b := Of(LoadTable, ListTables), Of(LoadTable, DropTable)
	if a.Intersect(b) != Of(LoadTable) || a.Union(b).Len() != 3 || a.Without(b) != Of(ListTables) {
		t.Error("intersect, union or without is wrong")
	}
	if !Of(LoadView).Emulated().Has(ViewExists) || Of(ListViews).Emulated().Has(ViewExists) {
		t.Error("existence is emulated exactly where a load exists")
	}
	if got := Set(0).Endpoints(); got == nil || len(got) != 0 {
		t.Errorf("an empty set lists as %#v", got)
	}
	if !slices.IsSorted([]int{Floor().Len(), Default().Len(), All().Len()}) {
		t.Error("floor, default and all are not nested in size")
	}
}
