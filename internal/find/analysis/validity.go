package analysis

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

// What the findings about a judge's validity are called.
const (
	WhatSensitivity = "sensitivity"    // of what is yes, the share that the judge calls yes
	WhatSpecificity = "specificity"    // of what is no, the share that the judge calls no
	WhatAccuracy    = "accuracy"       // share of labels on which judge and gold agree
	WhatTrueRate    = "corrected rate" // the rate freed from the judge's errors
)

// GoldJudge is the judge of rows that a study's gold file gives.
const GoldJudge = "gold"

// validity holds judges against gold: the labels of a file, or else what people said.
type validity struct {
	stage   *Stage
	spec    Spec
	options Options
	yes     []string
	truth   map[string]map[string]int // what is known of a judged answer: labels and how often
	sources map[string]int            // labels by who gave them
	file    bool                      // the labels come from a file
	units   names
	flags   []bool      // by unit: a judge flagged it
	said    [][]opinion // by judge, then unit
	further int         // verdicts of a judge on an answer that it has judged before, by another prompt
	labels  names
	judges  names
	right   map[uint32]string // the expected label of units that are known
	known   map[uint32]string // unit: its true label
	cover   groups[map[uint32]*validSums]
	cluster names
	key     []byte
}

// opinion is what a judge says about an answer.
type opinion struct {
	label uint32
	there bool
	yes   bool
	rated bool // the label counts as yes or no
}

// validSums are one judge's yes and no in a group, by cluster.
type validSums struct{ by map[uint32]stats.Count }

func newValidity(stage *Stage, s Spec, o Options) *validity {
	v := &validity{
		stage: stage, spec: s, options: o, yes: stage.yes(), truth: map[string]map[string]int{}, sources: map[string]int{},
		known: map[uint32]string{}, right: map[uint32]string{},
	}
	v.cover = newGroups(s.By, func() map[uint32]*validSums { return map[uint32]*validSums{} })
	return v
}

// unit distinguishes a judged answer, or a pair whichever way round, from all others.
func (v *validity) unit(r *Row) []byte {
	first, second := r.Lane, r.Other
	if second != "" && first > second {
		first, second = second, first
	}
	v.key = appendText(r.appendUnit(v.key[:0]), first, second, r.Trait)
	return v.key
}

// label is what a row says whichever way round a pair was shown.
func (v *validity) label(r *Row) string {
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

// learn enters a label that is taken to be true.
func (v *validity) learn(r *Row) {
	if !r.valid() || r.Label == "" {
		return
	}
	file := r.Judge == GoldJudge
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

func (v *validity) expect(r *Row) {
	if !r.Person() && r.Vote == 0 {
		v.cover.expect(r)
	}
}

func (v *validity) add(r *Row) {
	if r.Person() || r.Vote > 0 {
		return
	}
	g := v.cover.of(r)
	g.cover.count(r)
	if !r.valid() || r.Label == "" || v.stage.Flips && v.stage.controls(r.Branch) && !slices.Contains(v.spec.By, ByBranch) {
		return
	}
	judge := v.judges.of(r.Judge)
	if yes, ok := v.isYes(r.Label, r.Expect); ok && v.stage.Verb == Judged {
		s := g.data[judge]
		if s == nil {
			s = &validSums{by: map[uint32]stats.Count{}}
			g.data[judge] = s
		}
		c := v.cluster.of(r.cluster())
		s.by[c] = stats.Count{K: s.by[c].K + int(one(yes)), N: s.by[c].N + 1}
	}
	v.hear(r, judge)
}

// hear notes what a judge says about one answer. Of a pair, the first showing counts.
func (v *validity) hear(r *Row, judge uint32) {
	if len(v.units.list) >= maxUnits {
		return
	}
	unit := v.units.ofBytes(v.unit(r))
	v.said = grown(v.said, int(judge))
	v.said[judge] = grown(v.said[judge], int(unit))
	if v.said[judge][unit].there {
		v.further += int(one(r.Other == ""))
		return
	}
	yes, rated := v.isYes(r.Label, r.Expect)
	v.said[judge][unit] = opinion{v.labels.of(v.label(r)), true, yes, rated}
	v.flags = grown(v.flags, int(unit))
	v.flags[unit] = v.flags[unit] || slices.Contains(v.stage.Flagged, r.Label)
	if said, ok := v.truth[string(v.key)]; ok {
		if label, ok := majority(said); ok {
			v.known[unit], v.right[unit] = label, r.Expect
		}
	}
}

// majority is what most people said; false where two labels are as frequent.
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
func (v *validity) isYes(label, expect string) (yes, ok bool) {
	if len(v.yes) > 0 {
		return slices.Contains(v.yes, label), true
	}
	return label == expect, expect != ""
}

func (v *validity) tables() ([]Table, error) {
	t := Table{Title: "judge validity", By: append([]string{ByJudge}, v.spec.By...), Coverage: v.cover.totals()}
	if len(v.truth) == 0 {
		return nil, nil
	}
	for _, judge := range v.judges.sorted() {
		if err := v.judge(&t, judge); err != nil {
			return nil, err
		}
	}
	v.notes(&t)
	return []Table{t}, nil
}

func (v *validity) notes(t *Table) {
	var who []string
	for name := range v.sources {
		who = append(who, name)
	}
	slices.Sort(who)
	n := 0
	for _, k := range v.sources {
		n += k
	}
	t.note("gold: %s of %s on %s, of which %d were judged", plural(n, "label"), strings.Join(who, ", "), plural(len(v.truth), "answer"), len(v.known))
	if v.further > 0 {
		t.note("of a judge with several prompts the first verdict on an answer counts: %s not held against gold", plural(v.further, "verdict"))
	}
	if !v.file && v.stage.Unclear > 0 {
		t.note("%s chosen because it was not clear which of the two is better: accuracy is that of close pairs more than of all", wereLabels(v.stage.Unclear))
	}
	if !v.file && v.stage.Verb == Judged {
		t.note("people choose by what judges said: each kind of answer counts as often as it occurs")
	}
}

// judge adds what is known of one judge.
func (v *validity) judge(t *Table, judge uint32) error {
	by := Value{ByJudge, v.judges.list[judge]}
	right, n := v.confusion(t, judge, by.Value)
	f := v.finding(WhatAccuracy, n, by)
	r := stats.NewRate(right, n, v.options.Level)
	f.Value, f.SE, f.Interval, f.Method = r.Share, r.SE(), r.Interval, "Wilson, among the labelled"
	if n == 0 {
		*f = f.unknown("none of the gold labels is on an answer that it judged")
	}
	t.Findings = append(t.Findings, *f)
	if v.stage.Verb != Judged || n == 0 {
		return nil
	}
	e, how := v.errors(judge)
	for _, x := range []struct {
		what     string
		value    stats.Number
		interval stats.Interval
	}{{WhatSensitivity, e.Sensitivity, e.SensitivityInterval}, {WhatSpecificity, e.Specificity, e.SpecificityInterval}} {
		f := v.finding(x.what, n, by)
		f.Value, f.Interval, f.Method = x.value, x.interval, how
		t.Findings = append(t.Findings, *f)
	}
	for _, g := range v.cover.sorted() {
		if err := v.corrected(t, g, judge, e, n); err != nil {
			return err
		}
	}
	return nil
}

func (v *validity) finding(what string, n int, by ...Value) *Finding {
	return &Finding{What: what, Unit: Share, N: n, Clusters: n, By: by, Coverage: v.cover.totals(), Bounds: stats.NoInterval("not computed"), Rule: rule(v.stage)}
}

// errors are how often the judge is right about yes and about no.
func (v *validity) errors(judge uint32) (stats.Errors, string) {
	if v.file {
		var g stats.Gold
		for unit, label := range v.known {
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
		return g.Errors(v.options.Level), "Wilson"
	}
	kinds := [4]stats.Verified{{Yes: false}, {Yes: true}, {Yes: false}, {Yes: true}} // unflagged, then flagged
	for unit, said := range v.said[judge] {
		if !said.rated {
			continue
		}
		label, known := v.known[uint32(unit)]
		k := &kinds[one(said.yes)+2*one(v.flags[unit])]
		k.All++
		if is, ok := v.isYes(label, v.right[uint32(unit)]); known && ok {
			k.Labelled++
			k.True += int(one(is))
		}
	}
	return stats.Verify(kinds[:], v.options.Level), "weighted by how often the judge says so (Begg-Greenes)"
}

// about is what the judge says about an answer, if anything.
func (v *validity) about(judge, unit uint32) opinion {
	if int(judge) >= len(v.said) || int(unit) >= len(v.said[judge]) {
		return opinion{}
	}
	return v.said[judge][unit]
}

// corrected adds a group's rate, freed from the judge's errors.
func (v *validity) corrected(t *Table, g *group[map[uint32]*validSums], judge uint32, e stats.Errors, n int) error {
	sums, ok := g.data[judge]
	if !ok {
		return nil
	}
	counts := make([]stats.Count, 0, len(sums.by))
	for _, c := range sums.by {
		counts = append(counts, c)
	}
	r, err := stats.RateByCluster(counts, v.options.Level)
	if err != nil {
		return err
	}
	effective := float64(r.N)
	if r.DesignEffect.OK && r.DesignEffect.Value > 1 {
		effective /= r.DesignEffect.Value
	}
	c := e.Correct(r.Share.Value*effective, effective, v.options.Level)
	f := v.finding(WhatTrueRate, r.N, append([]Value{{ByJudge, v.judges.list[judge]}}, g.by(v.spec.By)...)...)
	f.Clusters, f.Coverage = r.Clusters, g.cover.settle()
	f.Value, f.Interval, f.Method = c.Share, c.Interval, "Rogan-Gladen, Lang-Reiczigel interval"
	f.note("judged rate %s; takes the judge to err alike everywhere, as on %s", Share.Show(r.Share.Value), plural(n, "label"))
	t.Findings = append(t.Findings, *f)
	return nil
}

// confusion adds the table of what the judge said by what is true, and counts the labels that agree.
func (v *validity) confusion(t *Table, judge uint32, name string) (right, n int) {
	c := Confusion{Judge: name}
	for _, l := range v.stage.Labels {
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
	for unit := range v.known {
		units = append(units, unit)
	}
	slices.Sort(units)
	for _, unit := range units {
		said := v.about(judge, unit)
		if !said.there {
			continue
		}
		at := cell{place(v.known[unit]), place(v.labels.list[said.label])}
		cells[at]++
		n++
		right += int(one(at.is == at.said))
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

// validated reports whether there is gold on what the judges judged: of both kinds, where there are two.
func (v *validity) validated() bool {
	for judge := range v.judges.list {
		if v.stage.Verb != Judged || len(v.yes) == 0 {
			if len(v.known) > 0 {
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
