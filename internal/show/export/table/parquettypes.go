package table

import (
	"reflect"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"assay/internal/assay"
)

// A row has times as text and money as a number, for JSON and CSV. In parquet they have types of their own: a moment in UTC, and
// dollars as a decimal, which adds up without rounding.

// moneyDigits are those of a decimal in 64 bits, nine of them behind the point, as in the ledger.
const (
	moneyDigits = 18
	moneyScale  = 9
)

// typedColumn is a column that parquet has a type for.
type typedColumn struct {
	name  string
	index int
	node  parquet.Node
	value func(parquet.Value) parquet.Value // of the column from that of the row
}

// typedColumns returns those of a table.
func typedColumns(plain *parquet.Schema) (out []typedColumn) {
	for _, c := range []typedColumn{
		{name: "settled_at", node: moment(), value: momentValue},
		{name: "given_at", node: moment(), value: momentValue},
		{name: "cost_usd", node: money(), value: moneyValue},
		{name: "price_usd", node: money(), value: moneyValue},
	} {
		if leaf, ok := plain.Lookup(c.name); ok {
			c.index = leaf.ColumnIndex
			out = append(out, c)
		}
	}
	return out
}

func money() parquet.Node {
	return parquet.Optional(parquet.Decimal(moneyScale, moneyDigits, parquet.Int64Type))
}

func moment() parquet.Node { return parquet.Optional(parquet.Timestamp(parquet.Millisecond)) }

// momentValue returns the moment that a text names; null where it names none.
func momentValue(v parquet.Value) parquet.Value {
	t, err := time.Parse(time.RFC3339Nano, v.String())
	if v.IsNull() || err != nil {
		return parquet.NullValue().Level(0, 0, v.Column())
	}
	return parquet.Int64Value(t.UnixMilli()).Level(0, 1, v.Column())
}

func moneyValue(v parquet.Value) parquet.Value {
	if v.IsNull() {
		return v
	}
	return parquet.Int64Value(int64(assay.Dollars(v.Double()))).Level(0, 1, v.Column())
}

// typedNode is the schema of a Go type in which some columns have other types. The order stays.
type typedNode struct {
	parquet.Node
	typed []typedColumn
}

// Fields returns the columns.
func (n typedNode) Fields() []parquet.Field {
	fields := slices.Clone(n.Node.Fields())
	for i, f := range fields {
		for _, c := range n.typed {
			if f.Name() == c.name {
				fields[i] = typedField{c.node, f}
			}
		}
	}
	return fields
}

// typedField is a field under its name with another type.
type typedField struct {
	parquet.Node
	field parquet.Field
}

// Name is that of the column.
func (f typedField) Name() string { return f.field.Name() }

// Value returns the field of a Go value.
func (f typedField) Value(base reflect.Value) reflect.Value { return f.field.Value(base) }
