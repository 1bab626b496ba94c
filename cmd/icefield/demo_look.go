package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/icefield/icefield/cmd/icefield/internal/sample"
)

// look is what the demonstration shows, all of it asked for at the front's URL.
type look struct {
	URL     string      `json:"url"`
	Sister  string      `json:"sister_url"`
	Tree    sample.Node `json:"tree"`
	Rows    []rowCount  `json:"rows"`
	Engines []snippet   `json:"engines"`
}

// rowCount is a table with the number of rows that were read from its files.
type rowCount struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	path  []string
}

// snippet is what to paste into an engine.
type snippet struct {
	Engine string `json:"engine"`
	Needs  string `json:"needs"`
	Text   string `json:"text"`
}

// look asks the front for its tree and reads every table in it.
func (s *scene) look(ctx context.Context) (*look, error) {
	l := &look{URL: s.front.url(), Sister: s.sister.url(), Rows: []rowCount{}, Engines: engines(s.front.url())}
	c, err := sample.Connect(ctx, l.URL, "")
	if err != nil {
		return nil, err
	}
	if l.Tree, err = c.Tree(ctx); err != nil {
		return nil, err
	}
	for _, path := range tablePaths(l.Tree, nil) {
		rows, err := c.CountRows(ctx, path...)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", strings.Join(path, "."), err)
		}
		l.Rows = append(l.Rows, rowCount{Table: strings.Join(path, "."), Rows: rows, path: path})
	}
	return l, nil
}

// tablePaths lists the tables of a tree.
func tablePaths(n sample.Node, above []string) [][]string {
	var paths [][]string
	for _, table := range n.Tables {
		paths = append(paths, append(slices.Clone(above), table))
	}
	for _, child := range n.Namespaces {
		paths = append(paths, tablePaths(child, append(slices.Clone(above), child.Name))...)
	}
	return paths
}

// engines is what to paste into an engine that is to use the catalog at url.
func engines(url string) []snippet {
	fill := func(text string) string { return strings.ReplaceAll(text, "{url}", url) }
	return []snippet{
		{"PyIceberg", `pip install "pyiceberg[pyarrow]"`, fill(`from pyiceberg.catalog import load_catalog

catalog = load_catalog("icefield", type="rest", uri="{url}")
print(catalog.list_namespaces())
orders = catalog.load_table("partner.shared.orders").scan().to_arrow()
events = catalog.load_table("prod.analytics.events").scan().to_arrow()
print(orders)
print(events.join(orders, "order_id").select(["kind", "customer", "amount"]))
`)},
		{"DuckDB", "duckdb, or pip install duckdb", fill(`INSTALL iceberg;
LOAD iceberg;
ATTACH 'prod' AS prod (TYPE iceberg, ENDPOINT '{url}', AUTHORIZATION_TYPE 'none');
ATTACH 'partner' AS partner (TYPE iceberg, ENDPOINT '{url}', AUTHORIZATION_TYPE 'none');
SELECT e.kind, o.customer, o.amount
  FROM prod.analytics.events e JOIN partner.shared.orders o USING (order_id);
`)},
		{"Spark", "Spark 3.5; other versions have an iceberg-spark-runtime of their own", fill(`spark-sql --packages org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0 \
  --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions \
  --conf spark.sql.catalog.icefield=org.apache.iceberg.spark.SparkCatalog \
  --conf spark.sql.catalog.icefield.type=rest \
  --conf spark.sql.catalog.icefield.uri={url} \
  -e "SELECT * FROM icefield.partner.shared.orders"
`)},
	}
}

// write prints it for people.
func (l *look) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Somebody else's catalog runs at   %s\nOne catalog over all of them is   %s\n\nThe tree, as an engine sees it there:\n\n", l.Sister, l.URL)
	comments := map[string]string{"partner": "mounted from " + l.Sister, "prod": "a native mount", "scratch": "in the catalog underneath"}
	counts := map[string]int64{}
	for _, r := range l.Rows {
		counts[r.Table] = r.Rows
	}
	for _, top := range l.Tree.Namespaces {
		writeNode(&b, top, nil, comments, counts)
	}
	for _, s := range l.Engines {
		fmt.Fprintf(&b, "\n--- %s (%s)\n\n%s", s.Engine, s.Needs, s.Text)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeNode(b *strings.Builder, n sample.Node, above []string, comments map[string]string, counts map[string]int64) {
	path := append(slices.Clone(above), n.Name)
	indent := strings.Repeat("  ", len(path))
	if comment := comments[n.Name]; comment != "" && len(above) == 0 {
		fmt.Fprintf(b, "%s%-20s %s\n", indent, n.Name, comment)
	} else {
		fmt.Fprintf(b, "%s%s\n", indent, n.Name)
	}
	for _, table := range n.Tables {
		name := strings.Join(append(slices.Clone(path), table), ".")
		fmt.Fprintf(b, "%s  %-18s %d rows\n", indent, table, counts[name])
	}
	for _, child := range n.Namespaces {
		writeNode(b, child, path, comments, counts)
	}
}
