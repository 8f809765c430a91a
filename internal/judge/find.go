package judge

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// finder looks for readings in a reply.
type finder struct {
	rubric  Rubric
	text    string
	cut     bool // the reply stopped in the middle
	found   []reading
	read    []span // the objects that have the fields of a reading, be they right or wrong
	problem string // the first thing that was almost a reading
	clash   string // what no other reading can make good
}

// span is a stretch of the reply.
type span struct{ start, end int }

func (f *finder) find() {
	switch f.rubric.Form {
	case FormTag:
		f.tags()
	case FormLine:
		f.lastLine()
	default:
		f.objects()
		if !f.rubric.Declared {
			f.lines()
		}
	}
	if len(f.found) == 0 && f.problem == "" && !f.cut && !f.rubric.Declared {
		f.bare()
	}
	for _, other := range f.found {
		if first := f.found[0]; !first.same(other) {
			f.clash = "the judge's answer holds two different labels: " + first.String() + " and " + other.String()
		}
	}
}

func (f *finder) complain(problem string) {
	if f.problem == "" {
		f.problem = problem
	}
}

// objects looks at every JSON object of the text; inside of one only where it is not itself a reading. Objects are read to a bounded
// depth, so that a text of nothing but braces costs no more than a long one.
func (f *finder) objects() {
	for next := 0; ; {
		at := strings.IndexByte(f.text[next:], '{')
		if at < 0 {
			return
		}
		at += next
		next = at + 1
		if o, end, ok := readObject(f.text, at); ok && f.object(o) {
			f.read = append(f.read, span{at, end})
			next = end
		}
	}
}

// object takes an object for a reading, if it has the fields of one. It reports whether it does, be they right or wrong.
func (f *finder) object(o object) bool {
	label, labels := o.values(f.rubric.Label)
	score, scores := o.values(f.rubric.Score)
	if labels+scores == 0 {
		return false
	}
	if labels > 1 || scores > 1 {
		f.clash = "the judge's answer gives one field two different values"
		return true
	}
	var points *float64
	if scores == 1 {
		var ok bool
		if points, ok = scoreOf(score); !ok {
			f.complain("the score is " + clip(quoted(score)) + ", which is not a number")
			return true
		}
	}
	if labels == 1 && label == nil {
		f.complain("the label is null")
		return true
	}
	r, problem := f.rubric.readingOf(label, points)
	if problem != "" {
		f.complain(problem)
		return true
	}
	r.from = o
	f.found = append(f.found, r)
	return true
}

// values returns the value of a field, and how many different ones there are under that name.
func (o object) values(name string) (value any, different int) {
	for _, m := range o {
		if !named(m.key, name) {
			continue
		}
		switch {
		case different == 0:
			value, different = m.value, 1
		case fold(quoted(m.value)) != fold(quoted(value)):
			different++
		}
	}
	return value, different
}

// named reports whether a key is a field of the rubric, in whatever case.
func named(key, field string) bool {
	return field != "" && strings.EqualFold(strings.TrimSpace(key), field)
}

// longest bounds the text before the colon of a line that names a field.
const longest = 100

// lines looks for lines such as "Model: A" outside the objects already read. A line whose value is no label is prose.
func (f *finder) lines() {
	at := 0
	for line := range strings.Lines(f.text) {
		here := span{at, at + len(line)}
		at = here.end
		if f.cut && !strings.HasSuffix(line, "\n") {
			return // how it would have gone on is not known
		}
		if slices.ContainsFunc(f.read, func(s span) bool { return here.start < s.end && s.start < here.end }) {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || len(name) > longest {
			continue
		}
		if r, ok := f.line(strings.TrimLeft(name, " \t>#*_-`"), value); ok {
			r.at = here
			f.found = append(f.found, r)
		}
	}
}

func (f *finder) line(name, value string) (reading, bool) {
	name = fold(name)
	value = strings.Trim(value, " \t\r\n*`\"_.")
	var r reading
	problem := "not a field of the rubric"
	switch {
	case name == "":
	case name == fold(f.rubric.Label) && len(f.rubric.Labels) > 0:
		r, problem = f.rubric.readingOf(value, nil)
	case name == fold(f.rubric.Score):
		if points, ok := scoreOf(value); ok {
			r, problem = f.rubric.readingOf(nil, points)
		}
	}
	return r, problem == ""
}

// bare takes a reply that is nothing but a label, or nothing but a number where the rubric is a score.
func (f *finder) bare() {
	text := unfenced(f.text)
	var r reading
	problem := "no label"
	if len(f.rubric.Labels) > 0 {
		r, problem = f.rubric.readingOf(text, nil)
	}
	if points, ok := scoreOf(text); ok && problem != "" && f.rubric.Score != "" {
		r, problem = f.rubric.readingOf(nil, points)
		f.problem = problem
	}
	if problem == "" {
		r.at = span{0, len(f.text)}
		f.found = append(f.found, r)
	}
}

var tagged = regexp.MustCompile(`<\s*([\w-]+)\s*>([^<]*)<\s*/\s*([\w-]+)\s*>`)

// tags looks for <FIELD>label</FIELD>.
func (f *finder) tags() {
	name := fold(cmp.Or(f.rubric.Label, f.rubric.Score))
	for _, at := range tagged.FindAllStringSubmatchIndex(f.text, -1) {
		if fold(f.text[at[2]:at[3]]) != name || fold(f.text[at[6]:at[7]]) != name {
			continue
		}
		r, problem := f.rubric.word(f.text[at[4]:at[5]])
		if problem != "" {
			f.complain(problem)
			continue
		}
		r.at = span{at[0], at[1]}
		f.found = append(f.found, r)
	}
}

// explanation returns the judge's own words: the field for them, or the text around the label.
func (r Rubric) explanation(text string, found reading) string {
	if found.from == nil {
		return strings.TrimSpace(text[:found.at.start] + text[found.at.end:])
	}
	for _, name := range append([]string{r.Explanation}, wordFields()...) {
		if v, n := found.from.values(name); n > 0 {
			words, _ := plain(v)
			return strings.TrimSpace(words)
		}
	}
	return ""
}

// wordFields returns the names under which judges explain themselves.
func wordFields() []string { return []string{"explanation", "reasoning", "reason", "rationale"} }

func (r Rubric) confidence(o object) *float64 {
	v, n := o.values(r.Confidence)
	if n != 1 {
		return nil
	}
	x, ok := scoreOf(v)
	if !ok {
		return nil
	}
	return share(x)
}

// rest returns what an object holds besides label, score and explanation.
func (r Rubric) rest(o object) json.RawMessage {
	known := append([]string{r.Label, r.Score, r.Explanation}, wordFields()...)
	left := slices.DeleteFunc(slices.Clone(o), func(m member) bool {
		return slices.ContainsFunc(known, func(name string) bool { return named(m.key, name) })
	})
	if len(left) == 0 {
		return nil
	}
	b, err := json.Marshal(left)
	if err != nil {
		return nil
	}
	return b
}
