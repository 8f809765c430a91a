package inputs

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// row is one record of a source before it is an item.
type row struct {
	fields map[string]any
	own    any    // the record's own id
	name   string // of the field that holds it; empty: it has none, while null is one
	made   made   // the id it has else
	place  assay.Place
}

// rowOf returns a row whose own id, if any, is among its fields.
func rowOf(fields map[string]any, id made, at assay.Place) row {
	own, name := ownID(fields)
	return row{fields: fields, own: own, name: name, made: id, place: at}
}

// ownID returns the id that a record has by itself, and its field.
func ownID(fields map[string]any) (any, string) {
	for _, name := range []string{"id", "ID", "Id"} {
		if v, ok := fields[name]; ok {
			return v, name
		}
	}
	return nil, ""
}

// OwnID returns the field of a record that is its id by its name; empty: none is.
func OwnID(fields map[string]any) string {
	_, name := ownID(fields)
	return name
}

// LooksLikeID reports whether people call a column so that numbers or names their rows.
func LooksLikeID(name string) bool {
	name = strings.ToLower(strings.Trim(name, " ."))
	return slices.Contains([]string{"nr", "no", "num", "number", "key", "uid", "uuid", "index", "#"}, name) ||
		strings.HasSuffix(name, "_id") || strings.HasSuffix(name, " id") || strings.HasSuffix(name, "-id")
}

// made is an id that is made from the position of a row: a file's stem, a row's number, or both.
type made struct {
	stem string
	n    int
}

func (m made) String() string {
	switch {
	case m.n == 0:
		return m.stem
	case m.stem == "":
		return strconv.Itoa(m.n)
	}
	return m.stem + "-" + strconv.Itoa(m.n)
}

// identity gives rows their ids. Where the study names no field, the first row of a file decides whether the file has
// ids: a made id among given ones would hide a gap.
type identity struct {
	file  string
	first assay.Place
	given bool
	begun bool
}

func (d *identity) item(r row, path string) (assay.Item, error) {
	id, err := d.id(r, path)
	if err != nil {
		return assay.Item{}, err
	}
	return assay.Item{ID: id, Fields: r.fields, Cluster: id, Place: r.place}, nil
}

func (d *identity) id(r row, path string) (string, error) {
	if path != "" {
		v, ok := lookup(r.fields, path)
		if !ok {
			return "", problem(r.place, "`id:` names the field that is the id", "no field %s to be the id", quote(path))
		}
		return idText(v, path, r.place)
	}
	if !d.begun || d.file != r.place.File {
		*d = identity{file: r.place.File, first: r.place, given: r.name != "", begun: true}
	}
	switch {
	case r.name != "" && d.given:
		return idText(r.own, r.name, r.place)
	case r.name != "":
		return "", problem(r.place, "give every row an id or none", "this row has an `id`, the first row at %s has none", d.first)
	case d.given:
		return "", problem(r.place, "give every row an id or none", "this row has no `id`, the first row at %s has one", d.first)
	}
	return r.made.String(), nil
}

func idText(v any, path string, at assay.Place) (string, error) {
	id, ok := textOf(v)
	if _, isBool := v.(bool); !ok || isBool {
		return "", problem(at, "an id is a text or a number", "the id in field %s is %s", quote(path), kindOf(v))
	}
	if id == "" {
		return "", problem(at, "", "the id in field %s is empty", quote(path))
	}
	return id, nil
}

// lookup finds a field by its name or by a dotted path; a number in the path counts into a list from 0. A column whose
// name contains the dots is found first.
func lookup(fields map[string]any, path string) (any, bool) {
	if v, ok := fields[path]; ok {
		return v, true
	}
	head, rest, dotted := strings.Cut(path, ".")
	if !dotted {
		return nil, false
	}
	switch v := fields[head].(type) {
	case map[string]any:
		return lookup(v, rest)
	case []any:
		return lookupIn(v, rest)
	}
	return nil, false
}

func lookupIn(list []any, path string) (any, bool) {
	head, rest, dotted := strings.Cut(path, ".")
	i, err := strconv.Atoi(head)
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	if !dotted {
		return list[i], true
	}
	switch v := list[i].(type) {
	case map[string]any:
		return lookup(v, rest)
	case []any:
		return lookupIn(v, rest)
	}
	return nil, false
}

// find is lookup on an item, whose id answers to `id` where it has no such field.
func find(it assay.Item, path string) (any, bool) {
	if v, ok := lookup(it.Fields, path); ok {
		return v, true
	}
	if path == "id" {
		return it.ID, true
	}
	return nil, false
}

// Value returns what an item has under a field's name or dotted path.
func Value(it assay.Item, path string) (any, bool) { return find(it, path) }

// Text returns the text of a scalar; false for null, lists and records.
func Text(v any) (string, bool) { return textOf(v) }

// textOf returns the text of a scalar; false for null, lists and records.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// kindOf names the kind of a value for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "a record"
	}
	return "a number"
}

// problem is one problem as an error.
func problem(at assay.Place, hint, format string, args ...any) error {
	var p assay.Problems
	p.Add(at, hint, format, args...)
	return p
}

// quote shows foreign text in a message: escaped, and not at length.
func quote(s string) string {
	const most = 60
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a character
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
