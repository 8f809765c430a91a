package store

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"assay/internal/assay/jsontext"
)

// EncodeFields writes item fields so that DecodeFields finds the types again.
func EncodeFields(fields map[string]any) (string, error) {
	marked, _ := mark(fields).(map[string]any)
	text, err := json.Marshal(marked)
	return string(text), err
}

// mark gives whole floats a decimal point.
func mark(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return json.Number(strconv.FormatFloat(v, 'f', 1, 64))
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mark(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = mark(v[k])
		}
		return out
	}
	return v
}

// FieldsParser returns what reads item fields back with the types they had: whole numbers stay int64. It is for one goroutine.
func FieldsParser() *jsontext.Parser {
	p := jsontext.NewParser()
	p.Deepest, p.NUL = deepest, true
	return p
}

// deepest is how many levels fields may have: more than a row of an input, which may be joined to another.
const deepest = 10_000

// DecodeFields reads what EncodeFields wrote.
func DecodeFields(p *jsontext.Parser, text []byte) (map[string]any, error) {
	v, err := p.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("fields: %w", err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("fields: %.60q is no object", text)
	}
	return fields, nil
}
