package parts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay/jsontext"
)

// GeminiSchema appends the answer schema as Gemini's responseSchema: a subset of JSON Schema that refuses keywords it
// does not know. What has no counterpart there is left out, which only makes the schema looser; a reference cannot be
// left out: what it names is written in its place. (Batches ignore responseJsonSchema, which would take the schema unchanged.)
func (w *Writer) GeminiSchema(schema []byte) error {
	if !jsontext.Valid(schema) {
		return errors.New("the answer schema is not valid JSON")
	}
	w.root, w.depth = schema, 0
	return w.geminiNode(schema)
}

// maxSchemaDepth is where a schema that refers to itself ends.
const maxSchemaDepth = 40

func (w *Writer) geminiNode(raw []byte) error {
	if w.depth++; w.depth > maxSchemaDepth {
		return errors.New("the answer schema refers to itself or is too deep, which this API does not take")
	}
	defer func() { w.depth-- }()
	target, err := w.referred(raw)
	if err != nil || target != nil {
		return errors.Join(err, w.geminiInPlace(target))
	}
	w.B = append(w.B, '{')
	err = jsontext.EachMember(raw, func(key, value []byte) error {
		switch string(key) {
		case "title", "description", "nullable", "required", "pattern", "minimum", "maximum", "minItems", "maxItems",
			"minLength", "maxLength", "minProperties", "maxProperties", "propertyOrdering":
			w.name(string(key))
			w.B = jsontext.AppendCompact(w.B, value)
		case "type":
			return w.geminiType(value)
		case "enum":
			w.geminiEnum(value)
		case "const":
			if value[0] == '"' {
				w.name("enum")
				w.B = append(w.B, '[')
				w.B = jsontext.AppendCompact(w.B, value)
				w.B = append(w.B, ']')
			}
		case "format":
			if geminiFormat(value) {
				w.name("format")
				w.B = jsontext.AppendCompact(w.B, value)
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
		}
		return nil
	})
	w.B = append(w.B, '}')
	return err
}

// geminiInPlace writes the part that a reference names.
func (w *Writer) geminiInPlace(target []byte) error {
	if target == nil {
		return nil
	}
	return w.geminiNode(target)
}

// referred returns the part of the schema that a node refers to, by a reference or as the only one of allOf; nil: it is none.
func (w *Writer) referred(raw []byte) (target []byte, err error) {
	jsontext.Members(raw, func(name, value []byte) {
		switch {
		case jsontext.Named(name, "$ref"):
			if target = w.definition(string(bytes.Trim(value, `"`))); target == nil {
				err = fmt.Errorf("the answer schema has a $ref to %s, which is not in it", value)
			}
		case jsontext.Named(name, "allOf"):
			var all [][]byte
			_ = jsontext.EachElement(value, func(v []byte) error { all = append(all, v); return nil }) // no visitor objects
			if len(all) == 1 && target == nil {
				target = all[0]
			}
		}
	})
	return target, err
}

// definition returns the part of the schema under a path such as #/$defs/name; nil: there is none.
func (w *Writer) definition(path string) []byte {
	steps := strings.Split(path, "/")
	if steps[0] != "#" {
		return nil
	}
	at := w.root
	for _, step := range steps[1:] {
		var next []byte
		jsontext.Members(at, func(name, value []byte) {
			if jsontext.Named(name, step) {
				next = value
			}
		})
		at = next
	}
	if len(at) == 0 || at[0] != '{' {
		return nil
	}
	return at
}

// geminiType writes one type; a list of types becomes a nullable type or a choice.
func (w *Writer) geminiType(value []byte) error {
	if value[0] == '"' {
		if !IsWord(value[1 : len(value)-1]) {
			return fmt.Errorf("the answer schema has no type %s", value)
		}
		w.name("type")
		w.B = AppendUpper(w.B, value)
		return nil
	}
	var list [8][]byte // JSON Schema has seven types
	types := list[:0]
	err := jsontext.EachElement(value, func(t []byte) error {
		if string(t) == `"null"` {
			w.name("nullable")
			w.B = append(w.B, "true"...)
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
			w.B = append(w.B, '[')
		} else {
			w.B = append(w.B, ',')
		}
		w.B = append(w.B, '{')
		err = errors.Join(err, w.geminiType(t))
		w.B = append(w.B, '}')
	}
	if len(types) > 0 {
		w.B = append(w.B, ']')
	}
	return err
}

// geminiEnum keeps a list of strings; other values have no counterpart.
func (w *Writer) geminiEnum(value []byte) {
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
	w.B = append(w.B, '[')
	visit(func(v []byte) error {
		if v[0] != '"' {
			return nil
		}
		if w.B[len(w.B)-1] != '[' {
			w.B = append(w.B, ',')
		}
		w.B = jsontext.AppendCompact(w.B, v)
		return nil
	})
	w.B = append(w.B, ']')
}

func geminiFormat(value []byte) bool {
	return slices.Contains([]string{`"date-time"`, `"enum"`, `"float"`, `"double"`, `"int32"`, `"int64"`}, string(value))
}

func (w *Writer) geminiProperties(value []byte) error {
	w.name("properties")
	w.B = append(w.B, '{')
	err := jsontext.EachMember(value, func(key, value []byte) error {
		if w.B[len(w.B)-1] != '{' {
			w.B = append(w.B, ',')
		}
		w.B = append(w.B, '"')
		w.B = jsontext.AppendRawString(w.B, key)
		w.B = append(w.B, '"', ':')
		return w.geminiNode(value)
	})
	w.B = append(w.B, '}')
	return err
}

func (w *Writer) geminiChoice(value []byte) error {
	w.name("anyOf")
	w.B = append(w.B, '[')
	err := jsontext.EachElement(value, func(v []byte) error {
		if w.B[len(w.B)-1] != '[' {
			w.B = append(w.B, ',')
		}
		return w.geminiNode(v)
	})
	w.B = append(w.B, ']')
	return err
}
