package study

import (
	"encoding/json"
	"reflect"
	"strings"

	"assay/internal/assay"
)

// Where is the position of a value of the study, and of each of its keys.
type Where struct {
	At   assay.Place `json:"-"`
	keys map[string]assay.Place
}

// Key returns the place of a key, or of the whole value when the key is not written.
func (w Where) Key(key string) assay.Place {
	if at, ok := w.keys[key]; ok && at.Line > 0 {
		return at
	}
	return w.At
}

// Has reports whether a key is written.
func (w Where) Has(key string) bool { _, ok := w.keys[key]; return ok }

// Entry is one named value of an ordered map.
type Entry[T any] struct {
	Name  string
	At    assay.Place // of the name
	Value T
}

// Ordered is a map that keeps the order of the file.
type Ordered[T any] []Entry[T]

// Find returns the value under a name.
func (o Ordered[T]) Find(name string) (T, bool) {
	for _, e := range o {
		if e.Name == name {
			return e.Value, true
		}
	}
	var zero T
	return zero, false
}

// Names lists the names in the order of the file.
func (o Ordered[T]) Names() []string {
	names := make([]string, len(o))
	for i, e := range o {
		names[i] = e.Name
	}
	return names
}

func (o *Ordered[T]) read(d *decoder, n *node) {
	if n.kind != kindMap {
		d.wrong(n, "a map")
		return
	}
	for _, p := range n.pairs {
		e := Entry[T]{Name: p.key, At: p.at}
		if p.at.Line == 0 {
			e.At = p.val.at
		}
		d.into(p.val, reflect.ValueOf(&e.Value).Elem())
		*o = append(*o, e)
	}
}

// reader is a value that reads itself, because it may be written in more than one form.
type reader interface{ read(d *decoder, n *node) }

// decoder fills Go values from nodes, by the names in their json tags, and keeps every problem it meets.
type decoder struct{ problems *assay.Problems }

func (d *decoder) wrong(n *node, want string) {
	got := n.kind.String()
	if n.kind == kindText && len(n.text) <= 40 {
		got = "the text " + quote(n.text)
	} else if n.kind == kindNumber || n.kind == kindBool {
		got = n.text
	}
	hint := ""
	if n.kind == kindNull {
		hint = "what belongs to it stands after the colon, or below it and further in"
	}
	d.problems.Add(n.at, hint, "want %s, got %s", want, got)
}

func (d *decoder) into(n *node, v reflect.Value) {
	if v.CanAddr() {
		if r, ok := v.Addr().Interface().(reader); ok {
			r.read(d, n)
			return
		}
		if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
			*raw = n.json()
			return
		}
	}
	if n.kind == kindNull {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.into(n, v.Elem())
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice:
		d.slice(n, v)
	case reflect.String:
		if n.kind != kindText && n.kind != kindNumber && n.kind != kindBool {
			d.wrong(n, "text")
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.kind != kindBool {
			d.wrong(n, "true or false")
			return
		}
		v.SetBool(n.yes)
	case reflect.Int, reflect.Int64:
		if n.kind != kindNumber || n.num != float64(int64(n.num)) {
			d.wrong(n, "a whole number")
			return
		}
		v.SetInt(int64(n.num))
	case reflect.Float64:
		if n.kind != kindNumber {
			d.wrong(n, "a number")
			return
		}
		v.SetFloat(n.num)
	}
}

func (d *decoder) slice(n *node, v reflect.Value) {
	if n.kind != kindList {
		d.wrong(n, "a list")
		return
	}
	for _, child := range n.list {
		e := reflect.New(v.Type().Elem()).Elem()
		d.into(child, e)
		v.Set(reflect.Append(v, e))
	}
}

func (d *decoder) structure(n *node, v reflect.Value) {
	if n.kind != kindMap {
		d.wrong(n, "a map")
		return
	}
	fields, where := fieldsOf(v)
	if where.IsValid() {
		w := Where{At: n.at, keys: map[string]assay.Place{}}
		for _, p := range n.pairs {
			w.keys[p.key] = p.at
		}
		where.Set(reflect.ValueOf(w))
	}
	for _, p := range n.pairs {
		f, ok := fields[p.key]
		if !ok {
			names := make([]string, 0, len(fields))
			for name := range fields {
				names = append(names, name)
			}
			d.unknownKey(p, names)
			continue
		}
		d.into(p.val, f)
	}
}

func (d *decoder) unknownKey(p pair, known []string) {
	at := p.at
	if at.Line == 0 {
		at = p.val.at
	}
	d.problems.Add(at, assay.DidYouMean(p.key, sorted(known)), "unknown key %s", quote(p.key))
}

// fieldsOf maps the names a struct may be written with to its fields, embedded structs included.
func fieldsOf(v reflect.Value) (map[string]reflect.Value, reflect.Value) {
	fields := map[string]reflect.Value{}
	var where reflect.Value
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Type == reflect.TypeFor[Where]():
			where = v.Field(i)
		case f.Anonymous:
			inner, w := fieldsOf(v.Field(i))
			for name, field := range inner {
				fields[name] = field
			}
			if w.IsValid() {
				where = w
			}
		default:
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				fields[name] = v.Field(i)
			}
		}
	}
	return fields, where
}

// json returns the node as JSON, numbers as written.
func (n *node) json() json.RawMessage {
	var b strings.Builder
	n.writeJSON(&b)
	return json.RawMessage(b.String())
}

func (n *node) writeJSON(b *strings.Builder) {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindBool:
		b.WriteString(map[bool]string{true: "true", false: "false"}[n.yes])
	case kindNumber:
		if json.Valid([]byte(n.text)) {
			b.WriteString(n.text)
			return
		}
		text, _ := json.Marshal(n.num) // .5 and 0x10 are YAML, not JSON
		b.Write(text)
	case kindText:
		b.WriteString(quote(n.text))
	case kindList:
		b.WriteString("[")
		for i, c := range n.list {
			if i > 0 {
				b.WriteString(",")
			}
			c.writeJSON(b)
		}
		b.WriteString("]")
	case kindMap:
		b.WriteString("{")
		for i, p := range n.pairs {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(quote(p.key) + ":")
			p.val.writeJSON(b)
		}
		b.WriteString("}")
	}
}
