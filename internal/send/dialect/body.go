package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/parts"
)

// body is a JSON object under way. It remembers which fields it has, so that nothing a study adds can overwrite them.
type body struct {
	b      []byte
	params *assay.Params
	wire   *assay.Wire
	prompt *assay.Prompt
	model  string
	label  string // the id among the request's labels; empty: none

	top    names  // the fields of the body
	merged names  // the objects of the body that took in what the study adds to them
	within names  // the fields of the object that is open
	open   string // its name; empty: none
	start  int    // where it began, to take it back when it stays empty
	err    error  // the first value that cannot be written
}

// item separates an element of a list from the one before it, if there is one.
func (w *body) item() {
	if w.b[len(w.b)-1] != '[' {
		w.b = append(w.b, ',')
	}
}

// names is a small set that needs no allocation.
type names struct {
	list [24]string
	n    int
}

func (s *names) has(name string) bool { return slices.Contains(s.list[:s.n], name) }

// holds is has for a name in its JSON form.
func (s *names) holds(key []byte) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = jsontext.AppendUnescaped(nil, key)
	}
	for _, name := range s.list[:s.n] {
		if string(key) == name {
			return true
		}
	}
	return false
}

func (s *names) add(name string) {
	if s.n < len(s.list) {
		s.list[s.n] = name
		s.n++
	}
}

// name writes a member's name, with the comma before it.
func (w *body) name(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

// field writes the name of a field of the body, or of the object that is open in it.
func (w *body) field(name string) {
	if w.open != "" {
		w.within.add(name)
	} else {
		w.top.add(name)
	}
	w.name(name)
}

// object opens an object in the body; fields go into it until end.
func (w *body) object(name string) {
	w.start = len(w.b)
	w.name(name)
	w.b = append(w.b, '{')
	w.open, w.within.n = name, 0
}

// end closes the open object. What the study adds under the same name is merged into it; an object without fields is
// taken back.
func (w *body) end() {
	name := w.open
	w.open = ""
	if w.b[len(w.b)-1] == '{' {
		w.b = w.b[:w.start]
		return
	}
	w.top.add(name)
	if raw, ok := w.params.Extra[name]; ok {
		w.fail(w.merge(name, raw))
	}
	w.b = append(w.b, '}')
}

func (w *body) merge(name string, raw json.RawMessage) error {
	if !jsontext.Valid(raw) {
		return fmt.Errorf("extra field %s: not valid JSON", name)
	}
	if s := jsontext.SkipSpace(raw); s[0] != '{' {
		return fmt.Errorf("extra field %s: the lane has set it already", name)
	}
	w.merged.add(name)
	return jsontext.EachMember(raw, func(key, value []byte) error {
		if w.within.holds(key) {
			return fmt.Errorf("extra field %s.%s: the lane has set it already", name, key)
		}
		if w.b[len(w.b)-1] != '{' {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '"')
		w.b = jsontext.AppendRawString(w.b, key)
		w.b = append(w.b, '"', ':')
		w.b = jsontext.AppendCompact(w.b, value)
		return nil
	})
}

func (w *body) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *body) text(name, value string) {
	w.field(name)
	w.b = jsontext.AppendString(w.b, value)
}

func (w *body) number(name string, n int64) {
	w.field(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *body) truth(name string, yes bool) {
	w.field(name)
	w.b = strconv.AppendBool(w.b, yes)
}

func (w *body) float(name string, f *float64) {
	if f == nil {
		return
	}
	if math.IsNaN(*f) || math.IsInf(*f, 0) {
		w.fail(fmt.Errorf("%s is not a number", name))
		return
	}
	w.field(name)
	w.b = jsontext.AppendFloat(w.b, *f)
}

func (w *body) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.field(name)
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = jsontext.AppendString(w.b, s)
	}
	w.b = append(w.b, ']')
}

func (w *body) topK(name string) {
	if w.params.TopK != nil {
		w.number(name, int64(*w.params.TopK))
	}
}

func (w *body) maxTokens(name string) {
	if w.params.MaxTokens != 0 {
		w.number(or(w.wire.MaxTokensField, name), int64(w.params.MaxTokens))
	}
}

// seed writes the seed under the wire's name or the dialect's own; a dialect without one refuses it.
func (w *body) seed(name string) {
	if w.params.Seed == nil {
		return
	}
	if name = or(w.wire.SeedField, name); name == "" {
		w.fail(noPlace("seed"))
		return
	}
	w.number(name, *w.params.Seed)
}

func (w *body) tier(name string) {
	if tier := or(w.wire.Tier, w.params.ServiceTier); tier != "" {
		w.text(name, tier)
	}
}

// schema appends the answer schema itself.
func (w *body) schema() {
	if !jsontext.Valid(w.params.Schema) {
		w.fail(errors.New("the answer schema is not valid JSON"))
		return
	}
	w.b = jsontext.AppendCompact(w.b, w.params.Schema)
}

// wants returns which form of structured output to write; none if free text is wanted.
func (w *body) wants() assay.SchemaWire {
	switch {
	case w.params.Schema != nil:
		return w.wire.Schema
	case w.params.JSON:
		return assay.SchemaWireJSONObject
	}
	return assay.SchemaWireNone
}

// writeExtra merges what the study adds, in the order of the names.
func (w *body) writeExtra() error {
	last := ""
	for range w.params.Extra {
		name := ""
		for k := range w.params.Extra {
			if k > last && (name == "" || k < name) {
				name = k
			}
		}
		if name == "" { // only the empty name is left
			return errors.New("an extra field has no name")
		}
		last = name
		if w.merged.has(name) {
			continue
		}
		if w.top.has(name) || reserved(name) {
			return fmt.Errorf("extra field %s: the lane or the prompt sets it", name)
		}
		if !jsontext.Valid(w.params.Extra[name]) {
			return fmt.Errorf("extra field %s: not valid JSON", name)
		}
		if w.b[len(w.b)-1] != '{' {
			w.b = append(w.b, ',')
		}
		w.b = jsontext.AppendString(w.b, name)
		w.b = append(w.b, ':')
		w.b = jsontext.AppendCompact(w.b, w.params.Extra[name])
	}
	return nil
}

// reserved names are never a study's to add: they are the question itself, its limit, or the form of the reply.
func reserved(name string) bool {
	switch name {
	case "model", "messages", "input", "instructions", "system", "contents", "systemInstruction", "system_instruction",
		"prompt", "stream", "n", "max_tokens", "max_completion_tokens", "max_output_tokens":
		return true
	}
	return false
}

func noPlace(param string) error { return &parts.NoPlaceError{Param: param} }
