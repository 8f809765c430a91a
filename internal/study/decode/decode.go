package decode

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
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

// Keys returns the keys that are written, each with its place.
func (w Where) Keys() map[string]assay.Place { return w.keys }

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

// Read takes a map.
func (o *Ordered[T]) Read(d *Decoder, n *Node) {
	if n.Kind != Map {
		d.Wrong(n, "a map")
		return
	}
	for _, p := range n.Pairs {
		e := Entry[T]{Name: p.Key, At: p.At}
		if p.At.Line == 0 {
			e.At = p.Value.At
		}
		d.into(p.Value, reflect.ValueOf(&e.Value).Elem())
		*o = append(*o, e)
	}
}

// Reader is a value that reads itself, because it may be written in more than one form.
type Reader interface{ Read(d *Decoder, n *Node) }

// Word is a text out of a list.
type Word interface{ Words() []string }

// Decoder fills Go values from nodes, by the names in their json tags, and keeps every problem it meets.
type Decoder struct{ Problems *assay.Problems }

// Wrong adds the problem that a node is not what is wanted.
func (d *Decoder) Wrong(n *Node, want string) { d.wrong(n, want, "") }

func (d *Decoder) wrong(n *Node, want, hint string) {
	got := n.Kind.String()
	if n.Kind == Text && len(n.Text) <= 40 {
		got = "the text " + Quote(n.Text)
	} else if n.Kind == Number || n.Kind == Bool {
		got = n.Text
	}
	if n.Kind == Null {
		hint = "what belongs to it stands after the colon, or below it and further in"
	}
	d.Problems.Add(n.At, hint, "want %s, got %s", want, got)
}

// Into fills what v points to.
func (d *Decoder) Into(n *Node, v any) { d.into(n, reflect.ValueOf(v).Elem()) }

func (d *Decoder) into(n *Node, v reflect.Value) {
	if v.CanAddr() {
		if r, ok := v.Addr().Interface().(Reader); ok {
			r.Read(d, n)
			return
		}
		if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
			*raw = n.JSON()
			return
		}
		if w, ok := v.Interface().(Word); ok && v.Kind() == reflect.String {
			v.SetString(d.OneOf(n, w.Words()...))
			return
		}
	}
	if n.Kind == Null {
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
		if n.Kind != Text && n.Kind != Number && n.Kind != Bool {
			d.Wrong(n, "text")
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Kind != Bool {
			d.Wrong(n, "true or false")
			return
		}
		v.SetBool(n.Bool)
	case reflect.Int, reflect.Int64:
		if n.Kind != Number || n.Number != float64(int64(n.Number)) {
			d.Wrong(n, "a whole number")
			return
		}
		v.SetInt(int64(n.Number))
	case reflect.Float64:
		if n.Kind != Number {
			d.Wrong(n, "a number")
			return
		}
		v.SetFloat(n.Number)
	}
}

func (d *Decoder) slice(n *Node, v reflect.Value) {
	if n.Kind != List {
		d.Wrong(n, "a list")
		return
	}
	for _, child := range n.List {
		e := reflect.New(v.Type().Elem()).Elem()
		d.into(child, e)
		v.Set(reflect.Append(v, e))
	}
}

func (d *Decoder) structure(n *Node, v reflect.Value) {
	fields, where := fieldsOf(v)
	known := slices.Sorted(maps.Keys(fields))
	if n.Kind != Map {
		d.wrong(n, "a map", keysThere(known))
		return
	}
	if where.IsValid() {
		w := Where{At: n.At, keys: map[string]assay.Place{}}
		for _, p := range n.Pairs {
			w.keys[p.Key] = p.At
		}
		where.Set(reflect.ValueOf(w))
	}
	for _, p := range n.Pairs {
		f, ok := fields[p.Key]
		if !ok {
			d.UnknownKey(p, known)
			continue
		}
		d.into(p.Value, f)
	}
}

// keysThere returns a hint that names the keys of a map, unless they are too many to be read.
func keysThere(known []string) string {
	if len(known) > 20 {
		return ""
	}
	return assay.ThereAre(known)
}

// UnknownKey adds the problem that a key is none of those known, which are in their order.
func (d *Decoder) UnknownKey(p Pair, known []string) {
	at := p.At
	if at.Line == 0 {
		at = p.Value.At
	}
	hint := cmp.Or(assay.DidYouMean(p.Key, known), keysThere(known))
	switch word := alsoCalled[strings.ToLower(p.Key)]; {
	case slices.Contains(known, word):
		hint = "did you mean " + word + "?"
	case word != "" && strings.Contains(word, " "):
		hint = word
	}
	d.Problems.Add(at, hint, "unknown key %s", Quote(p.Key))
}

const (
	onLane   = "write it on a lane, or for all of them under lane_defaults: {…}"
	onStage  = "write it on the stage that asks"
	onJudge  = "write it on the stage that judges"
	onInput  = "write it on the input"
	onRubric = "write it in a rubric: `rubric: {prompt: …, labels: {right: 1, wrong: 0}}`"
	aNote    = "`assay run STUDY --note TEXT` keeps a note with the run"
	inEnv    = "keys are set in the environment: `assay list keys` names the variables"
	onLive   = "how a provider is asked live: `providers: {openai: {live: {rate: 10/s, retries: 4}}}`"
)

// alsoCalled has what people write for a key, and what to do about keys that there cannot be.
var alsoCalled = map[string]string{
	"models": "lanes", "provider": "model", "engine": "model", "size": "n",
	"name": "study", "path": "file", "url": "file", "csv": "file", "data": "file", "column": "field", "filter": "where",
	"shuffle": "sample", "target": "expect", "expected": "expect", "answer": "expect", "cluster": onInput,
	"question": "prompt", "template": "prompt", "system_prompt": "system", "images": "media", "image": "media",
	"samples": "repeats", "epochs": "repeats", "repeat": "repeats", "draws": "repeats", "votes": "repeats",
	"evaluators": "judges", "judge_lane": "judges", "graders": "judges", "judges": onJudge,
	"scorer": "rubric", "metric": "rubric", "criteria": "rubric", "scale": "labels", "choices": "labels", "labels": onRubric,
	"order": "write it under pairs: `pairs: {all: true, order: both}`", "stage": "of", "group_by": "by", "groups": "by",
	"alpha":   "level",
	"primary": "mark an analysis: `analyses: [{of: STAGE, method: rate, primary: true}]`",
	"limit":   "`assay run STUDY --limit 20` asks the first 20 rows; `limit: 20` on an input keeps no others",
	"n":       "several answers to a question are `repeats: 3` on the stage: each is asked, kept, judged and priced by itself",
	"tags":    aNote, "metadata": aNote, "cache": "reuse",
	"version": "leave it out", "output": "`assay export` writes the results", "encoding": "save the file as UTF-8, and leave this out",
	"prompt": onStage, "system": onStage, "tools": onStage, "max_output_tokens": "max_tokens", "max_completion_tokens": "max_tokens",
	"temperature": onLane, "max_tokens": onLane, "seed": onLane, "concurrency": onLane,
	"retries": onLive, "rate": onLive,
	"max_cost": "budget", "api_key": inEnv, "key": inEnv,
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

// JSON returns the node as JSON, numbers as written.
func (n *Node) JSON() json.RawMessage {
	var b strings.Builder
	n.writeJSON(&b)
	return json.RawMessage(b.String())
}

func (n *Node) writeJSON(b *strings.Builder) {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case Bool:
		b.WriteString(map[bool]string{true: "true", false: "false"}[n.Bool])
	case Number:
		if json.Valid([]byte(n.Text)) {
			b.WriteString(n.Text)
			return
		}
		text, _ := json.Marshal(n.Number) // .5 and 0x10 are YAML, not JSON
		b.Write(text)
	case Text:
		b.WriteString(Quote(n.Text))
	case List:
		b.WriteString("[")
		for i, c := range n.List {
			if i > 0 {
				b.WriteString(",")
			}
			c.writeJSON(b)
		}
		b.WriteString("]")
	case Map:
		b.WriteString("{")
		for i, p := range n.Pairs {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(Quote(p.Key) + ":")
			p.Value.writeJSON(b)
		}
		b.WriteString("}")
	}
}

// OneOf reads a word out of a list.
func (d *Decoder) OneOf(n *Node, words ...string) string {
	if (n.Kind == Text || n.Kind == Bool || n.Kind == Number) && slices.Contains(words, n.Text) {
		return n.Text
	}
	d.Wrong(n, "one of "+strings.Join(words, ", "))
	return ""
}

// Fields fills the struct that v points to from a map, even where it is a Reader.
func (d *Decoder) Fields(n *Node, v any) { d.structure(n, reflect.ValueOf(v).Elem()) }

// Quote returns a text in quotes, for people.
func Quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is for people
	if e.Encode(s) != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
