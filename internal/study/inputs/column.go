package inputs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"assay/internal/assay/jsontext"
	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// column is a node of a parquet schema. Its leaves are those from..to of the row.
type column struct {
	name     string
	optional bool
	repeated bool
	list     bool // a group that encodes a list
	dict     bool // a group that encodes a map
	children []*column
	leaf     parquet.Type // nil: a group
	from, to int
}

// level is the depth of a value: how many of the nodes above may repeat, and how many may be absent.
type level struct{ repetition, definition int }

// columnsOf returns the schema of a file, whose names must be text and differ.
func columnsOf(root *parquet.Column) (*column, error) {
	next := 0
	c := columnOf(root, &next)
	return c, c.check()
}

func (c *column) check() error {
	seen := map[string]bool{}
	for _, child := range c.children {
		if at, what, _ := fault([]byte(child.name)); at >= 0 {
			return fmt.Errorf("the name of a column: %s", what)
		}
		if seen[child.name] {
			return fmt.Errorf("the column %s stands twice", quote(child.name))
		}
		seen[child.name] = true
		if err := child.check(); err != nil {
			return err
		}
	}
	return nil
}

func columnOf(node *parquet.Column, next *int) *column {
	c := &column{name: node.Name(), optional: node.Optional(), repeated: node.Repeated(), from: *next}
	if node.Leaf() {
		*next++
		c.leaf, c.to = node.Type(), *next
		return c
	}
	if t := node.Type().LogicalType(); t != nil {
		switch t.Value.(type) {
		case *parquetformat.ListType:
			c.list = true
		case *parquetformat.MapType:
			c.dict = true
		}
	}
	for _, child := range node.Columns() {
		c.children = append(c.children, columnOf(child, next))
	}
	c.to = *next
	return c
}

// record returns a group as a map of its fields.
func (c *column) record(leaves [][]parquet.Value, at level) (map[string]any, error) {
	fields := make(map[string]any, len(c.children))
	for _, child := range c.children {
		v, err := child.value(leaves, at)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", quote(child.name), err)
		}
		fields[child.name] = v
	}
	return fields, nil
}

// value puts one value of a column together from its leaves.
func (c *column) value(leaves [][]parquet.Value, at level) (any, error) {
	if c.from >= c.to || len(leaves[c.from]) == 0 {
		return nil, nil
	}
	first := leaves[c.from][0]
	switch {
	case c.optional:
		at.definition++
		if first.DefinitionLevel() < at.definition {
			return nil, nil
		}
	case c.repeated:
		at.repetition++
		at.definition++
		if first.DefinitionLevel() < at.definition {
			return []any{}, nil
		}
		return c.elements(leaves, at)
	}
	return c.content(leaves, at)
}

// elements cuts the leaves of a repeated column where a new element begins.
func (c *column) elements(leaves [][]parquet.Value, at level) (any, error) {
	list := []any{}
	rest := make([][]parquet.Value, len(leaves))
	copy(rest, leaves)
	one := make([][]parquet.Value, len(leaves))
	for len(rest[c.from]) > 0 {
		for i := c.from; i < c.to; i++ {
			n := min(1, len(rest[i]))
			for n < len(rest[i]) && rest[i][n].RepetitionLevel() > at.repetition {
				n++
			}
			one[i], rest[i] = rest[i][:n], rest[i][n:]
		}
		v, err := c.content(one, at)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (c *column) content(leaves [][]parquet.Value, at level) (any, error) {
	switch {
	case c.leaf != nil:
		return leafValue(c.leaf, leaves[c.from][0])
	case c.list && len(c.children) == 1 && c.children[0].repeated:
		return c.children[0].unwrapped(leaves, at)
	case c.dict && len(c.children) == 1 && c.children[0].repeated && len(c.children[0].children) == 2:
		return c.children[0].pairs(leaves, at)
	}
	return c.record(leaves, at)
}

// unwrapped returns a list without the group that the format puts around each element.
func (c *column) unwrapped(leaves [][]parquet.Value, at level) (any, error) {
	v, err := c.value(leaves, at)
	list, ok := v.([]any)
	if err != nil || !ok || len(c.children) != 1 {
		return v, err
	}
	for i := range list {
		if record, ok := list[i].(map[string]any); ok {
			list[i] = record[c.children[0].name]
		}
	}
	return list, nil
}

// pairs returns a map written as a list of keys and values.
func (c *column) pairs(leaves [][]parquet.Value, at level) (any, error) {
	v, err := c.value(leaves, at)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	out := make(map[string]any, len(list))
	for _, e := range list {
		record, _ := e.(map[string]any)
		key, ok := textOf(record[c.children[0].name])
		if !ok {
			return nil, errors.New("a key of a map is neither a text nor a number")
		}
		out[key] = record[c.children[1].name]
	}
	return out, nil
}

// leafValue returns a value in the types of an item's fields. Not-a-number, which data frames write for what is
// missing, is null.
func leafValue(t parquet.Type, v parquet.Value) (any, error) {
	if v.IsNull() {
		return nil, nil
	}
	if lt := t.LogicalType(); lt != nil {
		if out, done, err := logicalValue(lt.Value, v); done || err != nil {
			return out, err
		}
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean(), nil
	case parquet.Int32:
		return int64(v.Int32()), nil
	case parquet.Int64:
		return v.Int64(), nil
	case parquet.Int96: // an old form of a time: nanoseconds of a day, and the Julian day
		n := v.Int96()
		return time.Unix((int64(n[2])-2440588)*86400, int64(n[1])<<32|int64(n[0])).UTC().Format(time.RFC3339Nano), nil
	case parquet.Float:
		short, err := strconv.ParseFloat(strconv.FormatFloat(float64(v.Float()), 'g', -1, 32), 64)
		if err != nil {
			return nil, err
		}
		return realNumber(short)
	case parquet.Double:
		return realNumber(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return textValue(v.ByteArray())
	}
	return nil, fmt.Errorf("values of type %s are not read", v.Kind())
}

// logicalValue decodes a value by its logical type; done is false where the plain kind suffices. A meaning that
// does not go with the kind, as in a damaged file, is passed over.
func logicalValue(lt any, v parquet.Value) (out any, done bool, err error) {
	switch kind := v.Kind(); kind {
	case parquet.Int32, parquet.Int64:
		return logicalInt(lt, v)
	case parquet.ByteArray, parquet.FixedLenByteArray:
		b := v.ByteArray()
		switch lt := lt.(type) {
		case *parquetformat.DecimalType:
			n := new(big.Int).SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			return decimal(n, int(lt.Scale))
		case *parquetformat.UUIDType:
			if h := hex.EncodeToString(b); len(b) == 16 {
				return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], true, nil
			}
		}
	}
	return nil, false, nil
}

func logicalInt(lt any, v parquet.Value) (out any, done bool, err error) {
	n := v.Int64()
	if v.Kind() == parquet.Int32 {
		n = int64(v.Int32())
	}
	switch lt := lt.(type) {
	case *parquetformat.IntType:
		switch {
		case lt.IsSigned:
			return n, true, nil
		case v.Kind() == parquet.Int32:
			return int64(v.Uint32()), true, nil
		}
		return jsontext.NumberOf(strconv.FormatUint(v.Uint64(), 10), true), true, nil
	case *parquetformat.DateType:
		return time.Unix(n*86400, 0).UTC().Format(time.DateOnly), true, nil
	case *parquetformat.TimestampType:
		return instant(lt.Unit, n).Format(time.RFC3339Nano), true, nil
	case *parquetformat.TimeType:
		return instant(lt.Unit, n).Format("15:04:05.999999999"), true, nil
	case *parquetformat.DecimalType:
		return decimal(big.NewInt(n), int(lt.Scale))
	}
	return nil, false, nil
}

func instant(unit parquetformat.TimeUnit, n int64) time.Time {
	switch unit.Value.(type) {
	case *parquetformat.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *parquetformat.MicroSeconds:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// decimal keeps a whole number exact and any other as its nearest float64.
func decimal(n *big.Int, scale int) (out any, done bool, err error) {
	if scale <= 0 || scale > 1000 {
		return jsontext.NumberOf(n.String(), true), true, nil
	}
	f, _ := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).Float64()
	out, err = realNumber(f)
	return out, true, err
}

func realNumber(f float64) (any, error) {
	switch {
	case math.IsNaN(f):
		return nil, nil
	case math.IsInf(f, 0):
		return nil, errors.New("infinity is not a value")
	}
	return f, nil
}

func textValue(b []byte) (any, error) {
	if at, what, _ := fault(b); at >= 0 {
		return nil, fmt.Errorf("%s at byte %d of the value: only text is read", what, at+1)
	}
	return string(b), nil
}
