package answers

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// Validity compares judges with gold: the labels of a file, or else people's.
type Validity struct {
	gather.Job
	yes     []string
	truth   map[string]map[string]int // what is known of a judged answer: labels and how often
	sources map[string]int            // labels by who gave them
	file    bool                      // the labels come from a file
	units   gather.Names
	flags   []bool      // by unit: a judge flagged it
	said    [][]opinion // by judge, then unit
	further int         // verdicts of a judge on an answer that it has judged before, by another prompt
	omitted int         // verdicts on answers beyond those that are kept
	labels  gather.Names
	judges  gather.Names
	right   map[uint32]string // the expected label of units that are known
	certain map[uint32]string // unit: its true label
	cover   gather.Groups[map[uint32]*validSums]
	cluster gather.Names
	items   gather.Names
	own     []uint32 // the cluster of each item, plus 1
	key     []byte
}

// opinion is a judge's label of an answer.
type opinion struct {
	label uint32
	there bool
	yes   bool
	rated bool // the label counts as yes or no
}

// validSums are one judge's yes and no in a group, by item.
type validSums struct{ by map[uint32]stats.Count }

// NewValidity returns the collector that holds judges against gold.
func NewValidity(j gather.Job) *Validity {
	v := &Validity{
		Job: j, yes: j.Stage.Yes(), truth: map[string]map[string]int{}, sources: map[string]int{},
		certain: map[uint32]string{}, right: map[uint32]string{},
	}
	v.cover = gather.NewGroups(j.Spec.By, func() map[uint32]*validSums { return map[uint32]*validSums{} })
	return v
}

// unit distinguishes a judged answer, or a pair whichever way round, from all others.
func (v *Validity) unit(r *analysis.Row) []byte {
	first, second := r.Lane, r.Other
	if second != "" && first > second {
		first, second = second, first
	}
	v.key = analysis.AppendText(r.AppendUnit(v.key[:0]), first, second, r.Trait)
	return v.key
}

// label returns a row's label whichever way round a pair was shown.
func (v *Validity) label(r *analysis.Row) string {
	if r.Other == "" || r.Lane <= r.Other {
		return r.Label
	}
	switch r.Label {
	case assay.LabelA:
		return assay.LabelB
	case assay.LabelB:
		return assay.LabelA
	}
	return r.Label
}

// Learn enters a label that is taken to be true.
func (v *Validity) Learn(r *analysis.Row) {
	if !r.Valid() || r.Label == "" {
		return
	}
	file := r.Judge == analysis.GoldJudge
	if v.file && !file {
		return // a file is the study's own word
	}
	if file && !v.file {
		clear(v.truth)
		clear(v.sources)
		v.file = true
	}
	said := v.truth[string(v.unit(r))]
	if said == nil {
		said = map[string]int{}
		v.truth[string(v.key)] = said
	}
	said[v.label(r)]++
	v.sources[r.Judge]++
}

// Expect counts a planned verdict of a model or a rule.
func (v *Validity) Expect(r *analysis.Row) {
	if !r.Person() && r.Vote == 0 {
		v.cover.Expect(r)
	}
}

// Add enters a verdict of a model or a rule.
func (v *Validity) Add(r *analysis.Row) {
	if r.Person() || r.Vote > 0 {
		return
	}
	g := v.cover.Of(r)
	g.Cover.Count(r)
	if !r.Valid() || r.Label == "" || v.Stage.Flips && v.Stage.IsControl(r.Branch) && !slices.Contains(v.Spec.By, analysis.ByBranch) {
		return
	}
	judge := v.judges.Of(r.Judge)
	if yes, ok := v.isYes(r.Label, r.Expect); ok && v.Stage.Verb == analysis.Judged {
		s := g.Data[judge]
		if s == nil {
			s = &validSums{by: map[uint32]stats.Count{}}
			g.Data[judge] = s
		}
		item := v.items.Of(r.Item)
		if v.own = gather.Grown(v.own, int(item)); v.own[item] == 0 {
			v.own[item] = v.cluster.Of(r.ClusterName()) + 1
		}
		s.by[item] = stats.Count{K: s.by[item].K + int(gather.One(yes)), N: s.by[item].N + 1}
	}
	v.hear(r, judge)
}

// hear records a judge's label of one answer. Of a pair, the first showing counts.
func (v *Validity) hear(r *analysis.Row, judge uint32) {
	unit, kept := v.units.Within(v.unit(r), gather.MaxUnits)
	if !kept {
		v.omitted++
		return
	}
	v.said = gather.Grown(v.said, int(judge))
	v.said[judge] = gather.Grown(v.said[judge], int(unit))
	if v.said[judge][unit].there {
		v.further += int(gather.One(r.Other == ""))
		return
	}
	yes, rated := v.isYes(r.Label, r.Expect)
	v.said[judge][unit] = opinion{v.labels.Of(v.label(r)), true, yes, rated}
	v.flags = gather.Grown(v.flags, int(unit))
	v.flags[unit] = v.flags[unit] || slices.Contains(v.Stage.Flagged, r.Label)
	if said, ok := v.truth[string(v.key)]; ok {
		if label, ok := majority(said); ok {
			v.certain[unit], v.right[unit] = label, r.Expect
		}
	}
}

// majority returns the label of most people; false where two labels are as frequent.
func majority(said map[string]int) (string, bool) {
	best, several := "", false
	for label, n := range said {
		switch {
		case best == "" || n > said[best]:
			best, several = label, false
		case n == said[best]:
			several = true
		}
	}
	return best, best != "" && !several
}

// isYes reports whether a label counts as yes; false where the rubric has no yes.
func (v *Validity) isYes(label, expect string) (yes, ok bool) {
	if len(v.yes) > 0 {
		return slices.Contains(v.yes, label), true
	}
	return label == expect, expect != ""
}

// Tables computes how far judges can be trusted.
func (v *Validity) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "judge validity", By: append([]string{analysis.ByJudge}, v.Spec.By...), Coverage: v.cover.Totals()}
	if len(v.truth) == 0 {
		return nil, nil
	}
	for _, judge := range v.judges.Sorted() {
		if err := v.judge(&t, judge); err != nil {
			return nil, err
		}
	}
	v.notes(&t)
	return []analysis.Table{t}, nil
}

func (v *Validity) notes(t *analysis.Table) {
	if v.omitted > 0 {
		t.Note("%s left out: validity is computed over the first %d answers", analysis.Plural(v.omitted, "verdict"), gather.MaxUnits)
	}
	var who []string
	for name := range v.sources {
		who = append(who, name)
	}
	slices.Sort(who)
	n := 0
	for _, k := range v.sources {
		n += k
	}
	t.Note("gold: %s of %s on %s, of which %d were judged", analysis.Plural(n, "label"), strings.Join(who, ", "),
		analysis.Plural(len(v.truth), "answer"), len(v.certain))
	if v.further > 0 {
		t.Note("of a judge with several prompts the first verdict on an answer counts: %s not held against gold",
			analysis.Plural(v.further, "verdict"))
	}
	if !v.file && v.Stage.Unclear > 0 {
		t.Note("%s chosen because it was not clear which of the two is better: accuracy is that of close pairs more than of all",
			analysis.WereLabels(v.Stage.Unclear))
	}
	if !v.file && v.Stage.Verb == analysis.Judged {
		t.Note("people choose by what judges said: each kind of answer counts as often as it occurs")
	}
}

// judge adds what is known of one judge.
func (v *Validity) judge(t *analysis.Table, judge uint32) error {
	by := analysis.Value{Field: analysis.ByJudge, Value: v.judges.List[judge]}
	right, n := v.confusion(t, judge, by.Value)
	f := v.finding(analysis.WhatAccuracy, n, by)
	r := stats.NewRate(right, n, v.Options.Level)
	f.Value, f.SE, f.Interval, f.Method = r.Share, r.SE(), r.Interval, "Wilson, among the labelled"
	if n == 0 {
		*f = f.Unknown("none of the gold labels is on an answer that it judged")
	}
	t.Findings = append(t.Findings, *f)
	if v.Stage.Verb != analysis.Judged || n == 0 {
		return nil
	}
	e, how := v.errors(judge)
	for _, x := range []struct {
		what     string
		value    stats.Number
		interval stats.Interval
	}{{analysis.WhatSensitivity, e.Sensitivity, e.SensitivityInterval}, {analysis.WhatSpecificity, e.Specificity, e.SpecificityInterval}} {
		f := v.finding(x.what, n, by)
		f.Value, f.Interval, f.Method = x.value, x.interval, how
		t.Findings = append(t.Findings, *f)
	}
	for _, g := range v.cover.Sorted() {
		if err := v.corrected(t, g, judge, e, n); err != nil {
			return err
		}
	}
	return nil
}

func (v *Validity) finding(what string, n int, by ...analysis.Value) *analysis.Finding {
	return &analysis.Finding{What: what, Unit: analysis.Share, N: n, Clusters: n, By: by, Coverage: v.cover.Totals(),
		Bounds: stats.NoInterval("not computed"), Rule: v.Stage.CountingRule()}
}

// errors returns how often the judge is right about yes and about no.
func (v *Validity) errors(judge uint32) (stats.Errors, string) {
	if v.file {
		var g stats.Gold
		for unit, label := range v.certain {
			said := v.about(judge, unit)
			is, _ := v.isYes(label, v.right[unit])
			switch {
			case !said.rated:
			case said.yes && is:
				g.TruePositive++
			case said.yes:
				g.FalsePositive++
			case is:
				g.FalseNegative++
			default:
				g.TrueNegative++
			}
		}
		return g.Errors(v.Options.Level), "Wilson"
	}
	kinds := [4]stats.Verified{{Yes: false}, {Yes: true}, {Yes: false}, {Yes: true}} // unflagged, then flagged
	for unit, said := range v.said[judge] {
		if !said.rated {
			continue
		}
		label, known := v.certain[uint32(unit)]
		k := &kinds[gather.One(said.yes)+2*gather.One(v.flags[unit])]
		k.All++
		if is, ok := v.isYes(label, v.right[uint32(unit)]); known && ok {
			k.Labelled++
			k.True += int(gather.One(is))
		}
	}
	return stats.Verify(kinds[:], v.Options.Level), "weighted by how often the judge says so (Begg-Greenes)"
}

// about returns the judge's label of an answer, if any.
func (v *Validity) about(judge, unit uint32) opinion {
	if int(judge) >= len(v.said) || int(unit) >= len(v.said[judge]) {
		return opinion{}
	}
	return v.said[judge][unit]
}

// corrected adds a group's rate, freed from the judge's errors.
func (v *Validity) corrected(t *analysis.Table, g *gather.Group[map[uint32]*validSums], judge uint32, e stats.Errors, n int) error {
	sums, ok := g.Data[judge]
	if !ok {
		return nil
	}
	clusters := make([]stats.ItemShares, len(v.cluster.List))
	for _, item := range v.items.Sorted() {
		clusters[v.own[item]-1].Add(sums.by[item])
	}
	r, err := stats.ShareByCluster(clusters, v.Options.Level)
	if err != nil {
		return err
	}
	c := e.Correct(r.Share.Value*r.Worth, r.Worth, v.Options.Level)
	f := v.finding(analysis.WhatTrueRate, r.N,
		append([]analysis.Value{{Field: analysis.ByJudge, Value: v.judges.List[judge]}}, g.By(v.Spec.By)...)...)
	f.Clusters, f.Coverage = r.Clusters, g.Cover.WithMissing()
	f.Value, f.Interval, f.Method = c.Share, c.Interval, "Rogan-Gladen, Lang-Reiczigel interval"
	f.Note("judged rate %s; takes the judge to err alike everywhere, as on %s", analysis.Share.Show(r.Share.Value),
		analysis.Plural(n, "label"))
	t.Findings = append(t.Findings, *f)
	return nil
}

// confusion adds the table of the judge's labels by the true ones, and counts the labels that agree.
func (v *Validity) confusion(t *analysis.Table, judge uint32, name string) (right, n int) {
	c := analysis.Confusion{Judge: name}
	for _, l := range v.Stage.Labels {
		c.Labels = append(c.Labels, l.Name)
	}
	place := func(label string) int {
		i := slices.Index(c.Labels, label)
		if i < 0 {
			i = len(c.Labels)
			c.Labels = append(c.Labels, label)
		}
		return i
	}
	type cell struct{ is, said int }
	cells := map[cell]int{}
	var units []uint32
	for unit := range v.certain {
		units = append(units, unit)
	}
	slices.Sort(units)
	for _, unit := range units {
		said := v.about(judge, unit)
		if !said.there {
			continue
		}
		at := cell{place(v.certain[unit]), place(v.labels.List[said.label])}
		cells[at]++
		n++
		right += int(gather.One(at.is == at.said))
	}
	c.Counts = make([][]int, len(c.Labels))
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(c.Labels))
		for k := range c.Counts[i] {
			c.Counts[i][k] = cells[cell{i, k}]
		}
	}
	if n > 0 {
		t.Confusions = append(t.Confusions, c)
	}
	return right, n
}

// Validated reports whether there is gold on what the judges judged: of both kinds, where there are two.
func (v *Validity) Validated() bool {
	for judge := range v.judges.List {
		if v.Stage.Verb != analysis.Judged || len(v.yes) == 0 {
			if len(v.certain) > 0 {
				return true
			}
			continue
		}
		if e, _ := v.errors(uint32(judge)); e.Sensitivity.OK && e.Specificity.OK {
			return true
		}
	}
	return false
}
