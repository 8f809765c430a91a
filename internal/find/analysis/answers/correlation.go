package answers

import (
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// correlations hold what each item got against what is known of it, group by group.
type correlations struct {
	gather.Job
	yes    []string
	groups gather.Groups[*knownItems]
}

// knownItems are the items of a group.
type knownItems struct {
	items gather.Names
	got   []stats.Total
	known []string
}

// NewCorrelations returns the collector of correlations of what items got with what is known of them.
func NewCorrelations(j gather.Job) gather.Collector {
	return &correlations{Job: j, yes: j.Stage.Yes(), groups: gather.NewGroups(j.Spec.By, func() *knownItems { return &knownItems{} })}
}

func (c *correlations) Expect(r *analysis.Row) { c.groups.Expect(r) }

func (c *correlations) Add(r *analysis.Row) {
	g := c.groups.Of(r)
	g.Cover.Count(r)
	var value float64
	switch {
	case !r.Valid():
		return
	case len(c.yes) > 0 && !c.Stage.Flips && r.Label != "":
		value = float64(gather.One(slices.Contains(c.yes, r.Label)))
	case r.Score != nil:
		value = *r.Score
	case r.Expect != "" && r.Label != "":
		value = float64(gather.One(r.Label == r.Expect))
	default:
		return
	}
	d := g.Data
	k := int(d.items.Of(r.Item))
	if k == len(d.got) {
		d.got, d.known = append(d.got, stats.Total{}), append(d.known, strings.Clone(r.Field(c.Spec.With)))
	}
	d.got[k].Add(value)
}

func (c *correlations) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "correlation with what is known", Coverage: c.groups.Totals()}
	for _, g := range c.groups.Sorted() {
		d := g.Data
		var found, known []float64
		for _, k := range d.items.Sorted() {
			if x, ok := gather.NumberIn(d.known[k]); ok {
				found, known = append(found, d.got[k].Sum/float64(d.got[k].N)), append(known, x)
			}
		}
		like := &analysis.Finding{By: g.By(c.Spec.By), Coverage: g.Cover.WithMissing(), Rule: c.Stage.CountingRule(),
			Bounds: stats.NoInterval("not computed")}
		gather.Correlate(&t, like, found, known, len(d.got), c.Spec.With, "means of items", c.Options.Level)
	}
	return []analysis.Table{t}, nil
}
