package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encodeFields writes item fields so that decodeFields finds the types again.
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

// decodeFields reads item fields back with the types they had: whole numbers stay int64.
func DecodeFields(text []byte, into *map[string]any) error {
	if fields, ok := plainTexts(text); ok {
		*into = fields
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("fields: %w", err)
	}
	for k, v := range *into {
		(*into)[k] = plain(v)
	}
	return nil
}

// plainTexts reads fields that are all plain texts, as most are: no number, no list, and nothing that was escaped. False:
// there is something else in them.
func plainTexts(text []byte) (map[string]any, bool) {
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(text, []byte("{"))
	fields := map[string]any{}
	for ok {
		var name, value []byte
		if name, rest, ok = quoted(rest); !ok {
			break
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(":")); !ok {
			break
		}
		if value, rest, ok = quoted(rest); !ok {
			break
		}
		fields[string(name)] = string(value)
		if string(rest) == "}" {
			return fields, true
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
	}
	return nil, false
}

// quoted cuts a text in quotes off.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if b, ok = bytes.CutPrefix(b, []byte(`"`)); !ok {
		return nil, nil, false
	}
	return bytes.Cut(b, []byte(`"`))
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if n, err := v.Int64(); err == nil {
				return n
			}
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
		return v
	}
	return v
}
