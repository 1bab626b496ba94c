package sample

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
)

// The day that the sample rows begin with.
var firstDay = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// Orders is a table of six orders. Its order_id is what Events refers to.
func Orders(path ...string) Table {
	rows := newRows(
		column{"order_id", arrow.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.Int64},
		column{"customer", arrow.BinaryTypes.String, iceberg.PrimitiveTypes.String},
		column{"amount", arrow.PrimitiveTypes.Float64, iceberg.PrimitiveTypes.Float64},
		column{"ordered_on", arrow.FixedWidthTypes.Date32, iceberg.PrimitiveTypes.Date},
	)
	for i, customer := range []string{"Ada", "Grace", "Edsger", "Barbara", "Ada", "Niklaus"} {
		rows.add(int64(1001+i), customer, 19.5*float64(i+1), arrow.Date32FromTime(firstDay.AddDate(0, 0, i)))
	}
	return rows.table(path)
}

// Events is a table of eight events, of which seven refer to an order.
func Events(path ...string) Table {
	rows := newRows(
		column{"event_id", arrow.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.Int64},
		column{"kind", arrow.BinaryTypes.String, iceberg.PrimitiveTypes.String},
		column{"order_id", arrow.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.Int64},
		column{"at", arrow.FixedWidthTypes.Timestamp_us, iceberg.PrimitiveTypes.TimestampTz},
	)
	for i, kind := range []string{"placed", "placed", "paid", "placed", "shipped", "paid", "returned"} {
		rows.add(int64(i+1), kind, int64(1001+i%4), arrow.Timestamp(firstDay.Add(time.Duration(i)*time.Hour).UnixMicro()))
	}
	rows.add(int64(8), "visited", nil, arrow.Timestamp(firstDay.Add(8*time.Hour).UnixMicro()))
	return rows.table(path)
}

// Notes is a table of three notes.
func Notes(path ...string) Table {
	rows := newRows(
		column{"note_id", arrow.PrimitiveTypes.Int64, iceberg.PrimitiveTypes.Int64},
		column{"text", arrow.BinaryTypes.String, iceberg.PrimitiveTypes.String},
	)
	for i, text := range []string{"names that no mount claims", "lie in the catalog underneath", "which is mount \"/\""} {
		rows.add(int64(i+1), text)
	}
	return rows.table(path)
}

type column struct {
	name  string
	arrow arrow.DataType
	kind  iceberg.Type
}

// rows builds a Table row by row.
type rows struct {
	columns []column
	builder *array.RecordBuilder
}

func newRows(columns ...column) *rows {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.arrow, Nullable: true}
	}
	return &rows{columns, array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))}
}

// add appends one value to each column; nil is a null.
func (r *rows) add(values ...any) {
	for i, value := range values {
		switch b := r.builder.Field(i).(type) {
		case *array.Int64Builder:
			if n, ok := value.(int64); ok {
				b.Append(n)
			} else {
				b.AppendNull()
			}
		case *array.Float64Builder:
			b.Append(value.(float64))
		case *array.StringBuilder:
			b.Append(value.(string))
		case *array.Date32Builder:
			b.Append(value.(arrow.Date32))
		case *array.TimestampBuilder:
			b.Append(value.(arrow.Timestamp))
		}
	}
}

// table finishes the rows; the last of path is the table's name.
func (r *rows) table(path []string) Table {
	fields := make([]iceberg.NestedField, len(r.columns))
	for i, c := range r.columns {
		fields[i] = iceberg.NestedField{ID: i + 1, Name: c.name, Type: c.kind}
	}
	record := r.builder.NewRecordBatch()
	last := len(path) - 1
	return Table{
		Namespace: path[:last], Name: path[last],
		Schema: iceberg.NewSchema(0, fields...),
		Rows:   array.NewTableFromRecords(record.Schema(), []arrow.RecordBatch{record}),
	}
}
