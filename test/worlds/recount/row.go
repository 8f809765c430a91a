package recount

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// row is one verdict, or the place of one that is missing, with what is known of its item.
type row struct {
	Verdict
	cluster string
	expect  string
	fields  map[string]any
}

func (r *row) valid() bool  { return r.State == "valid" }
func (r *row) person() bool { return strings.HasPrefix(r.Judge, "human:") }

// stage is what a stage's verdicts are, and how they are to be read.
type stage struct {
	name     string
	rows     []row // as they were given
	decided  []row // by a jury, or of several votes and draws; nil: all stay apart
	rubric   Rubric
	compares bool
	items    bool // items are compared, not lanes
	machines bool // not people alone judge
	settings map[string]Answer
}

// stagesOf returns the stages that give verdicts.
func (r *Run) stagesOf() map[string]*stage {
	items, settings := map[[2]string]Item{}, map[string]Answer{}
	for _, it := range r.Items {
		items[[2]string{it.Input, it.Item}] = it
	}
	for _, a := range r.Answers {
		settings[a.AskedLane] = a
	}
	out := map[string]*stage{}
	for _, v := range slices.Concat(r.Verdicts, r.open()) {
		s := out[v.Stage]
		if s == nil {
			s = &stage{name: v.Stage, settings: settings}
			out[v.Stage] = s
		}
		it := items[[2]string{v.Input, v.Item}]
		one := row{Verdict: v, cluster: it.Cluster, expect: it.Expect, fields: it.Fields}
		if one.cluster == "" {
			one.cluster = v.Item
		}
		if s.compares = v.Verb == "compare"; s.compares && v.Source == "" {
			s.items = true
			one.cluster, one.expect, one.fields = min(v.First, v.Second)+"\x00"+max(v.First, v.Second), "", nil
		}
		s.machines = s.machines || !one.person()
		s.rows = append(s.rows, one)
	}
	for name, s := range out {
		rubric, ok := r.Rubrics[name]
		if !ok {
			rubric = guessed(s.rows)
		}
		s.rubric = rubric
		s.decided = decide(s)
	}
	return out
}

// open returns the requests of judges that have no verdict yet.
func (r *Run) open() []Verdict {
	there := map[string]bool{}
	for _, v := range r.Verdicts {
		there[v.Key] = true
	}
	var out []Verdict
	for _, a := range r.Answers {
		if (a.Verb == "judge" || a.Verb == "compare") && !a.SecondTry && !there[a.Key] {
			out = append(out, a.verdict())
		}
	}
	return out
}

// guessed returns a rubric as far as verdicts show it.
func guessed(rows []row) Rubric {
	var out Rubric
	scores := map[string]*float64{}
	for _, r := range rows {
		if r.valid() && r.Label != "" {
			scores[r.Label] = r.Score
		}
		if r.Branch == "control" || strings.HasSuffix(r.Branch, "/control") {
			out.Control = "control"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		out.Labels = append(out.Labels, Label{name, scores[name]})
		out.Flips = out.Flips || name == "no_flip" || name == "soft_flip" || name == "explicit_flip"
	}
	if out.Flips {
		out.Low, out.High, out.Less = some(0), some(2), true
	}
	return out
}

// control reports whether a row is about an answer to a neutral re-ask.
func (s *stage) control(r *row) bool {
	c := s.rubric.Control
	return c != "" && (r.Branch == c || strings.HasSuffix(r.Branch, "/"+c))
}

// yes returns the labels that the rate of a stage counts; none: the expected label.
func (s *stage) yes() []string {
	var out []string
	for _, l := range s.rubric.Labels {
		if l.Score == nil || !s.rubric.Flips && *l.Score != 0 && *l.Score != 1 {
			return nil
		}
		if *l.Score > 0 {
			out = append(out, l.Name)
		}
	}
	return out
}

// field returns what a row has in a field that findings are grouped by; false: it is not known here.
func (s *stage) field(r *row, name string) (string, bool) {
	switch name {
	case "lane":
		return r.Lane, true
	case "judge":
		return r.Judge, true
	case "branch":
		return r.Branch, true
	case "turn":
		return strconv.Itoa(r.Turn), true
	case "trait":
		return r.Trait, true
	case "template":
		return r.Template, true
	case "prompt":
		return r.Prompt, true
	case "item":
		return r.Item, true
	case "cluster":
		return r.cluster, true
	case "expect":
		return r.expect, true
	case "draw":
		return strconv.Itoa(r.Draw), true
	}
	if v, ok := inside(r.fields, name); ok {
		return v, true
	}
	lane, known := s.settings[r.Lane]
	switch strings.TrimPrefix(name, "lane.") {
	case "provider":
		return lane.Provider, known
	case "model":
		return lane.Model, known
	case "effort":
		return lane.Effort, known
	case "thinking":
		return lane.Thinking, known
	case "source":
		return r.Source, true
	}
	return "", false
}

// inside returns a field of an item, or one inside of it: statement.section.
func inside(fields map[string]any, path string) (string, bool) {
	if v, ok := fields[path]; ok {
		return fmt.Sprint(v), true
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, ok := fields[name].(map[string]any)
	if !nested || !ok {
		return "", false
	}
	return inside(inner, rest)
}

// of returns the rows that a finding of a table is about: those with its fields, some left out. False: a field is not known
// here.
func (s *stage) of(t *Table, f *Finding, without ...string) ([]row, bool) {
	from := s.rows
	each := t.Method == "agreement" || t.Method == "validity" || t.Method == "judge-bias"
	if s.decided != nil && !each && !t.People && t.Method != "variance" {
		from = s.decided
	}
	_, byJudge := f.By["judge"]
	var out []row
	for _, r := range from {
		if r.person() != t.People && s.machines && !each && !byJudge {
			continue
		}
		same := true
		for name, want := range f.By {
			if slices.Contains(without, name) {
				continue
			}
			got, known := s.field(&r, name)
			if !known {
				return nil, false
			}
			same = same && got == want
		}
		if same {
			out = append(out, r)
		}
	}
	return out, true
}
