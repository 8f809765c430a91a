package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/prompt"
)

// facts are everything that a study says, each under its path: texts as they were loaded, lanes as they were expanded. Places,
// files and the order of keys are left out.
type facts struct {
	at    map[string]leaf // by the path's key
	order []fact
}

// fact is the path of one value.
type fact struct {
	key  string
	path []string
}

// leaf is one value: a text, or a list of names.
type leaf struct {
	text  string
	names []string
}

func (l leaf) equal(o leaf) bool { return l.text == o.text && slices.Equal(l.names, o.names) }

func factsOf(s *study.Study) *facts {
	f := &facts{at: map[string]leaf{}}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; name {
		case "Where", "Inputs", "LaneDefaults", "LaneSpecs", "Profiles", "Lanes", "Elsewhere", "Loaded", "Programs":
		default:
			f.walk(v.Field(i), keyOf(v.Type().Field(i)))
		}
	}
	for i := range s.Lanes {
		f.walk(reflect.ValueOf(s.Lanes[i]), "lanes", s.Lanes[i].Name)
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		if st.Taken != nil {
			f.put(leaf{text: st.Taken.Digest}, "stages", st.Name, "rows")
		}
		f.exact(s, st)
	}
	f.walk(reflect.ValueOf(s.Programs), "programs")
	return f
}

// exact notes the texts of a stage that are sent byte for byte.
func (f *facts) exact(s *study.Study, st *study.Stage) {
	if !s.Bare(st) {
		return
	}
	texts := append(study.Prompts{{Name: "system", Text: st.System}}, st.Prompt...)
	if own := s.RubricOf(st); own != nil {
		texts = append(append(texts, study.Named{Name: "system", Text: own.System}), own.Prompt...)
	}
	for i, t := range texts {
		f.put(leaf{text: t.Raw}, "stages", st.Name, "prompt", "exact", strconv.Itoa(i), t.Name)
	}
}

// list returns all that these facts or others say, in the order of the study.
func (f *facts) list(others *facts) []fact {
	out := slices.Clone(f.order)
	for _, o := range others.order {
		if _, ok := f.at[o.key]; !ok {
			out = append(out, o)
		}
	}
	return out
}

func (f *facts) put(l leaf, path ...string) {
	key := strings.Join(path, "\x00")
	if _, ok := f.at[key]; !ok {
		f.order = append(f.order, fact{key: key, path: slices.Clone(path)})
	}
	f.at[key] = l
}

// walk notes what is set in a value. What is not set is not noted.
func (f *facts) walk(v reflect.Value, path ...string) {
	if f.special(v, path) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if e := v.Elem(); e.Kind() != reflect.Struct {
			f.put(leaf{text: fmt.Sprint(e.Interface())}, path...) // also where it is zero: it was written
			return
		}
		f.walk(v.Elem(), path...)
	case reflect.Slice:
		for i := range v.Len() {
			f.walk(v.Index(i), append(slices.Clip(path), nameOf(v.Index(i), i))...)
		}
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
		for _, k := range keys {
			f.walk(v.MapIndex(k), append(slices.Clip(path), k.String())...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch t := v.Type().Field(i); {
			case !t.IsExported() || t.Tag.Get("json") == "-":
			case t.Anonymous || t.Name == "Value": // a lane's own part, and the value of an entry
				f.walk(v.Field(i), path...)
			case t.Name == "Name" && v.Field(i).String() == path[len(path)-1]: // it is the path
			default:
				f.walk(v.Field(i), append(slices.Clip(path), keyOf(t))...)
			}
		}
	default:
		if !v.IsZero() {
			f.put(leaf{text: fmt.Sprint(v.Interface())}, path...)
		}
	}
}

// special notes values that are more, or less, than their fields.
func (f *facts) special(v reflect.Value, path []string) bool {
	text := ""
	switch x := v.Interface().(type) {
	case decode.Where, assay.Place, *prompt.Template, *expr.Program:
	case study.Text:
		text = x.Text
	case study.Named:
		text = x.Text.Text
	case study.Phrase:
		text = x.Text
	case study.Expression:
		text = x.Source
	case study.Names:
		if len(x.List) > 0 {
			f.put(leaf{names: x.List}, path...)
		}
	case study.PairList:
		if x.File != "" {
			f.put(leaf{names: x.Names()}, path...)
		}
	case study.Any:
		text = compact(x.JSON)
	case study.RawSchema:
		text = compact(x.JSON)
	case json.RawMessage:
		text = compact(x)
	case study.Amount:
		if x.Set {
			text = x.Money.String()
		}
	case study.Duration:
		if x != 0 {
			text = time.Duration(x).String()
		}
	default:
		return false
	}
	if text != "" {
		f.put(leaf{text: text}, path...)
	}
	return true
}

func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if len(text) == 0 || json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}

// nameOf returns what an element of a list goes by: its name, else its number.
func nameOf(v reflect.Value, i int) string {
	if v.Kind() == reflect.Struct {
		if name := v.FieldByName("Name"); name.IsValid() && name.Kind() == reflect.String && name.String() != "" {
			return name.String()
		}
	}
	return strconv.Itoa(i + 1)
}

// keyOf returns the key under which a study writes a field.
func keyOf(t reflect.StructField) string {
	name, _, _ := strings.Cut(t.Tag.Get("json"), ",")
	if name != "" && name != "-" {
		return name
	}
	var b strings.Builder
	for i, c := range t.Name {
		if i > 0 && unicode.IsUpper(c) && unicode.IsLower(rune(t.Name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// change returns the change that a path is about.
func (f fact) change() Change {
	c := Change{Section: Section(f.path[0])}
	switch {
	case len(f.path) > 2 && slices.Contains([]Section{Lanes, Stages, Providers}, c.Section):
		c.Name, c.Key = f.path[1], f.path[2]
		if (c.Key == "params" || c.Key == "live") && len(f.path) > 3 { // a lane has their keys side by side
			c.Key = f.path[3]
		}
	case len(f.path) > 1 && slices.Contains([]Section{Rubrics, Traits, Programs}, c.Section):
		c.Name = f.path[1]
	}
	return c
}

// whole reports whether the path lies in a lane, stage, rubric or trait that one of the studies has not at all: that it came or
// went is said once.
func (f fact) whole(was, is *study.Study) bool {
	if len(f.path) < 2 {
		return false
	}
	names := func(s *study.Study) []string {
		switch Section(f.path[0]) {
		case Lanes:
			return laneNames(s)
		case Stages:
			return stageNames(s)
		case Rubrics:
			return s.Rubrics.Names()
		case Traits:
			return s.Traits.Names()
		}
		return f.path[1:2]
	}
	return !slices.Contains(names(was), f.path[1]) || !slices.Contains(names(is), f.path[1])
}

// asks reports whether requests, or what is read out of their answers, depend on a value. What is not listed here does, to be
// on the safe side.
func (f fact) asks() bool {
	third := ""
	if len(f.path) > 2 {
		third = f.path[2]
	}
	switch f.path[0] {
	case "description", "analyses", "require", "notify", "budget", "reserve", "unpriced", "deadline", "stop_if", "cleanup", "live_below",
		"batch", "prices":
		return false
	case "providers":
		return third != "live" && third != "limits"
	case "lanes":
		return !slices.Contains([]string{"live", "stop_if", "label", "notes"}, third)
	case "stages":
		// what it names is compared
		column := third == "pairs" && slices.Contains([]string{"first", "second", "item"}, f.path[len(f.path)-1])
		return third != "batch" && third != "gold" && !column
	}
	return true
}
