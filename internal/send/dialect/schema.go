package dialect

import (
	"assay/internal/assay/jsontext"
	"errors"
	"fmt"
	"slices"
)

// geminiSchema appends the answer schema as Gemini's responseSchema: a subset of JSON Schema that refuses keywords it
// does not know. What has no counterpart there is left out, which only makes the schema looser; a reference cannot be
// left out. (Batches ignore responseJsonSchema, which would take the schema unchanged.)
func (w *body) geminiSchema() error {
	if !jsontext.Valid(w.params.Schema) {
		return errors.New("the answer schema is not valid JSON")
	}
	return w.geminiNode(w.params.Schema)
}

func (w *body) geminiNode(raw []byte) error {
	w.b = append(w.b, '{')
	err := jsontext.EachMember(raw, func(key, value []byte) error {
		switch string(key) {
		case "title", "description", "nullable", "required", "pattern", "minimum", "maximum", "minItems", "maxItems",
			"minLength", "maxLength", "minProperties", "maxProperties", "propertyOrdering":
			w.name(string(key))
			w.b = jsontext.AppendCompact(w.b, value)
		case "type":
			return w.geminiType(value)
		case "enum":
			w.geminiEnum(value)
		case "const":
			if value[0] == '"' {
				w.name("enum")
				w.b = append(w.b, '[')
				w.b = jsontext.AppendCompact(w.b, value)
				w.b = append(w.b, ']')
			}
		case "format":
			if geminiFormat(value) {
				w.name("format")
				w.b = jsontext.AppendCompact(w.b, value)
			}
		case "items":
			if value[0] == '{' {
				w.name("items")
				return w.geminiNode(value)
			}
		case "properties":
			return w.geminiProperties(value)
		case "anyOf", "oneOf":
			return w.geminiChoice(value)
		case "$ref":
			return errors.New("the answer schema has a $ref, which this API does not take: write the part out in its place")
		}
		return nil
	})
	w.b = append(w.b, '}')
	return err
}

// geminiType writes one type; a list of types becomes a nullable type or a choice.
func (w *body) geminiType(value []byte) error {
	if value[0] == '"' {
		if !isWord(value[1 : len(value)-1]) {
			return fmt.Errorf("the answer schema has no type %s", value)
		}
		w.name("type")
		w.b = appendUpper(w.b, value)
		return nil
	}
	var list [8][]byte // JSON Schema has seven types
	types := list[:0]
	err := jsontext.EachElement(value, func(t []byte) error {
		if string(t) == `"null"` {
			w.name("nullable")
			w.b = append(w.b, "true"...)
		} else if t[0] == '"' && len(types) < len(list) {
			types = append(types, t)
		}
		return nil
	})
	if len(types) == 1 {
		return w.geminiType(types[0])
	}
	for i, t := range types {
		if i == 0 {
			w.name("anyOf")
			w.b = append(w.b, '[')
		} else {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		err = errors.Join(err, w.geminiType(t))
		w.b = append(w.b, '}')
	}
	if len(types) > 0 {
		w.b = append(w.b, ']')
	}
	return err
}

// geminiEnum keeps a list of strings; other values have no counterpart.
func (w *body) geminiEnum(value []byte) {
	texts := true
	visit := func(f func(v []byte) error) { _ = jsontext.EachElement(value, f) } // the visitors below never object
	visit(func(v []byte) error {
		texts = texts && (v[0] == '"' || string(v) == "null")
		return nil
	})
	if !texts {
		return
	}
	w.name("enum")
	w.b = append(w.b, '[')
	visit(func(v []byte) error {
		if v[0] != '"' {
			return nil
		}
		if w.b[len(w.b)-1] != '[' {
			w.b = append(w.b, ',')
		}
		w.b = jsontext.AppendCompact(w.b, v)
		return nil
	})
	w.b = append(w.b, ']')
}

func geminiFormat(value []byte) bool {
	return slices.Contains([]string{`"date-time"`, `"enum"`, `"float"`, `"double"`, `"int32"`, `"int64"`}, string(value))
}

func (w *body) geminiProperties(value []byte) error {
	w.name("properties")
	w.b = append(w.b, '{')
	err := jsontext.EachMember(value, func(key, value []byte) error {
		if w.b[len(w.b)-1] != '{' {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '"')
		w.b = jsontext.AppendRawString(w.b, key)
		w.b = append(w.b, '"', ':')
		return w.geminiNode(value)
	})
	w.b = append(w.b, '}')
	return err
}

func (w *body) geminiChoice(value []byte) error {
	w.name("anyOf")
	w.b = append(w.b, '[')
	err := jsontext.EachElement(value, func(v []byte) error {
		if w.b[len(w.b)-1] != '[' {
			w.b = append(w.b, ',')
		}
		return w.geminiNode(v)
	})
	w.b = append(w.b, ']')
	return err
}
