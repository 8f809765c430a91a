package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
	"assay/internal/find/stats/variance"
)

// variances gathers verdicts by item, template, draw and judge, to split their variance and to tell what to buy next.
type variances struct {
	gather.Job
	yes       []string
	unit      analysis.Unit // of a verdict
	units     gather.Names
	templates gather.Names
	judges    gather.Names
	groups    gather.Groups[*varied]
	lanes     map[string]float64 // verdicts on each lane, over all groups
	given     map[string]float64 // by each judge
	key       []byte
}

// varied is the verdicts of a group.
type varied struct {
	values []variance.Value
	fewer  int                // units are kept with a chance of 1/2 to this power
	lanes  map[string]float64 // verdicts on each lane
	given  map[string]float64 // by each judge
}

// maxVaried is how many verdicts of a group are kept; of more, those of half of the units.
const maxVaried = 200_000

// NewVariances returns the collector of the parts of variance.
func NewVariances(j gather.Job) gather.Collector {
	v := &variances{Job: j, yes: j.Stage.Yes(), unit: analysis.Share, lanes: map[string]float64{}, given: map[string]float64{}}
	v.groups = gather.NewGroups(j.Spec.By, func() *varied { return &varied{lanes: map[string]float64{}, given: map[string]float64{}} })
	return v
}

func (v *variances) Expect(r *analysis.Row) { v.groups.Expect(r) }

func (v *variances) Add(r *analysis.Row) {
	g := v.groups.Of(r)
	g.Cover.Count(r)
	value, ok := gather.ValueOf(r, v.yes, false)
	if !r.Valid() || !ok {
		return
	}
	if len(v.yes) == 0 && r.Score != nil {
		v.unit = analysis.Score
	}
	for _, count := range []map[string]float64{v.lanes, g.Data.lanes} {
		count[r.Lane]++
	}
	for _, count := range []map[string]float64{v.given, g.Data.given} {
		count[r.Judge]++
	}
	v.key = analysis.AppendText(v.key[:0], r.Item, r.Branch, r.Lane, strconv.Itoa(r.Turn))
	if !g.Data.keeps(v.key) {
		return
	}
	one := variance.Value{Unit: int32(v.units.OfBytes(v.key)), Cluster: int32(v.Known.Of(r.ClusterName())), Draw: int32(r.Draw),
		Value: value}
	v.key = analysis.AppendText(v.key[:0], r.Judge, r.Prompt, r.Trait)
	one.Judge, one.Template = int32(v.judges.OfBytes(v.key)), int32(v.templates.Of(r.Template))
	if g.Data.values = append(g.Data.values, one); len(g.Data.values) > maxVaried {
		g.Data.fewer++
		g.Data.values = slices.DeleteFunc(g.Data.values, func(x variance.Value) bool {
			return !g.Data.keeps([]byte(v.units.Text(uint32(x.Unit))))
		})
	}
}

// keeps reports whether the verdicts on a unit are kept.
func (d *varied) keeps(unit []byte) bool {
	return d.fewer == 0 || checked.Hash(0, string(unit))&(1<<d.fewer-1) == 0
}

func (v *variances) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "variance", Coverage: v.groups.Totals()}
	best := map[variance.Kind]int{}
	for _, g := range v.groups.Sorted() {
		p := variance.Split(g.Data.values, v.Options.Level)
		p.Units <<= g.Data.fewer
		if len(p.Parts) == 0 {
			f := v.finding(g, &p, analysis.WhatVariance, analysis.Squared)
			t.Findings = append(t.Findings, f.Unknown("%s", p.Why))
			continue
		}
		v.parts(&t, g, &p)
		best[v.next(&t, g, &p)]++
		if p.Clusters < p.Units>>g.Data.fewer {
			t.Note("items of a cluster are alike: more items are items of new clusters")
		}
		if p.Used<<g.Data.fewer < p.Units {
			t.Note("%s: parts from %d of %d items", strings.Join(g.Values, ", "), p.Used, p.Units)
		}
	}
	var words []string
	for _, k := range []variance.Kind{variance.Items, variance.Draws, variance.Templates, variance.Judges} {
		if n := best[k]; n > 0 {
			words = append(words, fmt.Sprintf("%s (%d of %s)", k, n, analysis.Plural(len(v.groups.Index), "row")))
		}
	}
	if len(words) > 0 {
		t.Note("what to buy next: %s. As much money again takes most off the error there", strings.Join(words, ", "))
	}
	return []analysis.Table{t}, nil
}

func (v *variances) finding(g *gather.Group[*varied], p *variance.Parts, what string, u analysis.Unit,
	by ...analysis.Value) *analysis.Finding {
	return &analysis.Finding{What: what, Unit: u, By: append(g.By(v.Spec.By), by...), Coverage: g.Cover.WithMissing(),
		Rule: v.Stage.CountingRule(), N: p.Verdicts, Clusters: p.Clusters, Bounds: stats.NoInterval("not computed")}
}

// parts adds the parts of a group.
func (v *variances) parts(t *analysis.Table, g *gather.Group[*varied], p *variance.Parts) {
	for i, x := range p.Parts {
		by := analysis.Value{Field: analysis.ByPart, Value: x.Kind.String()}
		f := v.finding(g, p, analysis.WhatVariance, analysis.Squared, by)
		f.Value, f.SE, f.Interval = x.Value, x.SE, x.Interval.Clipped(nil, v.most())
		f.Method = "REML, by cluster (delta method), chi-square"
		if x.Kind == variance.Templates || x.Kind == variance.Judges {
			f.Clusters, f.Method = x.Levels, fmt.Sprintf("REML, chi-square of %s - 1", x.Kind)
		}
		if len(x.With) > 0 {
			var names []string
			for _, k := range x.With {
				names = append(names, k.String())
			}
			f.Note("with %s: the design does not tell them apart", strings.Join(names, ", "))
		}
		share := v.finding(g, p, analysis.WhatPart, analysis.Share, by)
		share.Value, share.SE, share.Interval = p.Share(i, v.Options.Level)
		share.Method = "delta method, by cluster"
		t.Findings = append(t.Findings, *f, *share)
	}
}

// most returns the largest variance that verdicts can have; nil: their scale is open.
func (v *variances) most() *float64 {
	span := 1.0
	if v.unit == analysis.Score {
		if v.Stage.Low == nil || v.Stage.High == nil {
			return nil
		}
		span = *v.Stage.High - *v.Stage.Low
	}
	span = span * span / 4
	return &span
}

// next adds the error of the mean as it is and after as much money again was spent on more of one thing, and returns the best purchase.
func (v *variances) next(t *analysis.Table, g *gather.Group[*varied], p *variance.Parts) variance.Kind {
	answers, verdicts, known := v.spent(g.Data)
	add := func(more string, value float64) *analysis.Finding {
		f := v.finding(g, p, analysis.WhatError, v.unit, analysis.Value{Field: analysis.ByMore, Value: more})
		f.Value, f.Interval, f.Method = stats.Known(value), stats.NoInterval("an error has none"), "from the parts of variance"
		t.Findings = append(t.Findings, *f)
		return &t.Findings[len(t.Findings)-1]
	}
	add("none", p.Error(1, 1, 1, 1))
	purchases := p.Buy(answers, verdicts)
	for i, b := range purchases {
		f := add(b.More.String(), b.Error)
		price := "as much again as was spent"
		if known {
			price = fmt.Sprintf("%.4g USD more", answers+verdicts)
		}
		if f.Note("%.3g times as many %s, %s", b.Times, b.More, price); i == 0 {
			f.Note("takes most off for the money")
		}
	}
	return purchases[0].More
}

// spent returns what the answers and the verdicts of a group cost; not known where a price is not, or where rows were left out.
func (v *variances) spent(d *varied) (answers, verdicts float64, known bool) {
	s := v.Stage.Spent
	if known = s != nil && v.Spec.Keep == nil; !known {
		return 0, 0, false
	}
	for lane, n := range d.lanes {
		cost, ok := s.Answers[lane]
		answers, known = answers+cost*n/v.lanes[lane], known && ok
	}
	for judge, n := range d.given {
		cost, ok := s.Verdicts[judge]
		ok = ok || !slices.Contains(v.Stage.Judges, judge) // rules and people
		verdicts, known = verdicts+cost*n/v.given[judge], known && ok
	}
	if !known {
		return 0, 0, false
	}
	return answers, verdicts, true
}
