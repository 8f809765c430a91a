package findings

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
)

// wanted returns the stages that were asked for.
func (q *Query) wanted(stages []analysis.Stage) ([]analysis.Stage, error) {
	if len(q.Stages) == 0 {
		return stages, nil
	}
	var names []string
	for _, s := range stages {
		names = append(names, s.Name)
	}
	var out []analysis.Stage
	for _, name := range q.Stages {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, results.NewMistake(assay.Choices(name, names), "--stage: no stage %q gives verdicts", name)
		}
		out = append(out, stages[i])
	}
	return out, nil
}

// by returns analyses by the methods that were asked for, of the stages that they suit.
func (q *Query) by(stages []analysis.Stage) ([]analysis.Spec, error) {
	var out []analysis.Spec
	for _, name := range q.Methods {
		var every []string
		n := len(out)
		for _, s := range stages {
			for _, m := range analysis.Methods(s.Verb) {
				switch {
				case string(m) == name && (s.Suits(m) || len(q.Stages) > 0): // a stage that was named reports what it lacks
					out = append(out, analysis.Spec{Stage: s.Name, Method: m})
				case s.Suits(m) && !slices.Contains(every, string(m)):
					every = append(every, string(m))
				}
			}
		}
		if len(out) == n {
			return nil, results.NewMistake(assay.Choices(name, every), "--method: %q suits none of these stages", name)
		}
	}
	return out, nil
}

// apply gives the analyses the settings that were asked for.
func (q *Query) apply(stages []analysis.Stage, specs []analysis.Spec) error {
	if why := q.Settings.Problem(); why != "" {
		return results.NewMistake("", "--%s", why)
	}
	if name, methods := analysis.Apply(q.Settings, stages, specs); name != "" {
		return results.NewMistake("ask for one: --method "+methods[0], "--%s: none of these analyses takes it; it is of %s", name,
			strings.Join(methods, ", "))
	}
	return nil
}

// fields wants every field that was asked for to be there.
func (q *Query) fields(seen map[string]bool, stages []analysis.Stage) error {
	items := !slices.ContainsFunc(stages, func(s analysis.Stage) bool { return !s.Items })
	for _, f := range q.By {
		switch {
		case seen[f]:
		case !analysis.OwnField(f):
			return results.NewMistake(assay.ThereAre(analysis.OwnFields())+", judge.model and the like, and the items' own fields",
				"--by: no item has a field %q", f)
		case items && slices.Contains(analysis.LaneFields(), f):
			return results.NewMistake("--by judge."+f+" is the judge's",
				"--by %s: items are compared, not answers of lanes, and no item has "+
					"a field %q", f, f)
		}
	}
	if f := q.Settings.With; f != "" && !seen[f] {
		return results.NewMistake("name a column of the input", "--with: no item has a field %q", f)
	}
	return nil
}

// narrow leaves the findings that were asked for, in the order that was asked for.
func (q *Query) narrow(r *analysis.Report) error {
	if err := q.pick(r); err != nil {
		return err
	}
	if q.Sort == "" {
		return nil
	}
	name, down := strings.CutPrefix(q.Sort, "-")
	known := sortNames()
	for _, t := range r.Tables {
		for i := range t.Findings {
			for _, v := range t.Findings[i].By {
				if !slices.Contains(known, v.Field) {
					known = append(known, v.Field)
				}
			}
		}
	}
	if !slices.Contains(known, name) {
		return results.NewMistake(assay.Choices(name, known), "--sort: no table has a column %q", name)
	}
	for i := range r.Tables {
		sortFindings(r.Tables[i].Findings, name, down)
	}
	return nil
}

// pick leaves the findings of the kinds that were asked for.
func (q *Query) pick(r *analysis.Report) error {
	if len(q.What) == 0 {
		return nil
	}
	var kinds []string
	found := map[string]bool{}
	tables := r.Tables[:0]
	for _, t := range r.Tables {
		var left []analysis.Finding
		for _, f := range t.Findings {
			if !slices.Contains(kinds, f.What) {
				kinds = append(kinds, f.What)
			}
			if slices.Contains(q.What, f.What) {
				left, found[f.What] = append(left, f), true
			}
		}
		if t.Findings = left; len(left) > 0 {
			tables = append(tables, t)
		}
	}
	for _, w := range q.What {
		if !found[w] {
			return results.NewMistake(assay.Choices(w, kinds), "--what: nothing that was found is called %q", w)
		}
	}
	r.Tables = tables
	return nil
}

// sortNames returns the columns, besides fields, that findings are sorted by.
func sortNames() []string {
	return []string{"value", "se", "low", "high", "n", "clusters", "p", "rank", "what"}
}

// sortFindings sorts by one column; what has no number there comes last either way.
func sortFindings(list []analysis.Finding, name string, down bool) {
	order := func(a, b analysis.Finding) int {
		x, xs, xOK := sortKey(&a, name)
		y, ys, yOK := sortKey(&b, name)
		switch {
		case xOK != yOK && xOK:
			return -1
		case xOK != yOK:
			return 1
		}
		order := cmp.Or(cmp.Compare(x, y), analysis.Natural(xs, ys))
		if down {
			return -order
		}
		return order
	}
	sort.SliceStable(list, func(i, j int) bool { return order(list[i], list[j]) < 0 })
}

func sortKey(f *analysis.Finding, name string) (x float64, text string, ok bool) {
	switch name {
	case "value":
		return f.Value.Value, "", f.Value.OK
	case "se":
		return f.SE.Value, "", f.SE.OK
	case "low":
		return f.Interval.Low, "", f.Interval.OK
	case "high":
		return f.Interval.High, "", f.Interval.OK
	case "n":
		return float64(f.N), "", true
	case "clusters":
		return float64(f.Clusters), "", true
	case "p":
		return f.P.Value, "", f.P.OK
	case "rank":
		if f.Rank == nil {
			return 0, "", false
		}
		return float64(f.Rank.Rank), "", true
	case "what":
		return 0, f.What, true
	}
	return 0, f.Of(name), slices.ContainsFunc(f.By, func(v analysis.Value) bool { return v.Field == name })
}
