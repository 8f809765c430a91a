package answers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// judges gathers the verdicts of several judges on the same answers.
type judges struct {
	gather.Job
	yes     []string
	judges  gather.Names
	labels  gather.Names
	lanes   gather.Names
	units   gather.Names
	places  []uint32          // cluster of each unit
	ratings map[uint64]rating // by unit and judge
	sums    map[[2]uint32]*gather.ItemSums
	own     []uint32 // cluster of each item, plus 1
	parts   []int    // the part that each cluster belongs to: parts are left out one after the other
	n       int      // parts
	panel   stats.Panel
	found   int // clusters
	omitted int // verdicts on answers beyond those that are kept
	cover   gather.Groups[struct{}]
	key     []byte
}

type rating struct {
	label int32
	score float64
}

// NewJudges returns the collector of several judges' verdicts on the same answers.
func NewJudges(a gather.Job) gather.Collector {
	j := &judges{Job: a, yes: a.Stage.Yes(), ratings: map[uint64]rating{}, sums: map[[2]uint32]*gather.ItemSums{}}
	j.cover = gather.NewGroups([]string{analysis.ByJudge}, func() struct{} { return struct{}{} })
	return j
}

func (j *judges) Expect(r *analysis.Row) { j.cover.Expect(r) }

func (j *judges) Add(r *analysis.Row) {
	j.cover.Of(r).Cover.Count(r)
	if !r.Valid() {
		return
	}
	judge, cluster := j.judges.Of(r.Judge), j.Known.Of(r.ClusterName())
	value, ok := j.value(r)
	if j.Stage.Verb == analysis.Judged && ok {
		k, item := [2]uint32{judge, j.lanes.Of(r.Lane)}, j.Known.Of(r.Item)
		if j.sums[k] == nil {
			j.sums[k] = &gather.ItemSums{}
		}
		j.sums[k].Add(item, value)
		if j.own = gather.Grown(j.own, int(item)); j.own[item] == 0 {
			j.own[item] = cluster + 1
		}
	}
	j.key = analysis.AppendText(r.AppendUnit(j.key[:0]), r.Lane, r.Other, r.Trait, r.Prompt)
	if r.Vote > 0 {
		return
	}
	unit, kept := j.units.Within(j.key, gather.MaxUnits)
	if !kept {
		j.omitted++
		return
	}
	j.places = gather.Grown(j.places, int(unit))
	j.places[unit] = cluster
	given := rating{label: -1, score: value}
	if r.Label != "" {
		given.label = int32(j.labels.Of(r.Label))
	}
	j.ratings[uint64(unit)<<32|uint64(judge)] = given
}

// value returns the verdict as a number.
func (j *judges) value(r *analysis.Row) (float64, bool) {
	return gather.ValueOf(r, j.yes, j.Stage.Flips)
}

func (j *judges) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "judges", By: []string{analysis.ByJudge, analysis.ByAgainst, analysis.ByLane}, Coverage: j.cover.Totals()}
	if j.judges.Len() < 2 {
		f := analysis.Finding{What: analysis.WhatAgreement, Unit: analysis.Share, Coverage: t.Coverage,
			Bounds: stats.NoInterval("not computed")}
		t.Findings = append(t.Findings, f.Unknown("agreement needs two judges"))
		return []analysis.Table{t}, nil
	}
	j.part()
	for _, step := range []func(*analysis.Table) error{j.pairs, j.disagreeing, j.all, j.spread, j.deltas} {
		if err := step(&t); err != nil {
			return nil, err
		}
	}
	if rest := slices.DeleteFunc(slices.Clone(j.Spec.By),
		func(f string) bool { return f == analysis.ByLane || f == analysis.ByJudge }); len(rest) > 0 {
		t.Note("over everything that was judged, not by %s", strings.Join(rest, ", "))
	}
	if j.omitted > 0 {
		t.Note("%s left out: agreement is computed over the first %d answers", analysis.Plural(j.omitted, "verdict"), gather.MaxUnits)
	}
	return []analysis.Table{t}, nil
}

func (j *judges) finding(what string, u analysis.Unit, n int, by ...analysis.Value) *analysis.Finding {
	return &analysis.Finding{What: what, Unit: u, N: n, Clusters: j.found, By: by, Coverage: j.cover.Totals(),
		Bounds: stats.NoInterval("not computed"), Rule: j.Stage.CountingRule()}
}

// part puts clusters into parts by their names: each into one of its own, unless there are very many.
func (j *judges) part() {
	rank := j.Known.ByText()
	there := map[uint32]bool{}
	for _, c := range j.places {
		there[c] = true
	}
	for _, c := range j.own {
		if c > 0 {
			there[c-1] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(there), func(a, b uint32) int { return cmp.Compare(rank[a], rank[b]) })
	j.found, j.n = len(order), min(len(order), stats.LeftOutGroups)
	for i, c := range order {
		j.parts = gather.Grown(j.parts, int(c))
		j.parts[c] = i % j.n
	}
	of := make([]int, len(j.places))
	for unit, c := range j.places {
		of[unit] = j.parts[c]
	}
	j.panel = stats.NewPanel(of, j.Options.Level)
}

// leftOut returns what a number is without one part after the other.
func (j *judges) leftOut(of func(part int) stats.Number) []stats.Number {
	out := make([]stats.Number, j.n)
	for g := range out {
		out[g] = of(g)
	}
	return out
}

// labelsOf returns the label that a judge gave each unit; -1: none.
func (j *judges) labelsOf(judge uint32) []int {
	out := make([]int, j.units.Len())
	for unit := range out {
		out[unit] = -1
		if r, ok := j.ratings[uint64(unit)<<32|uint64(judge)]; ok {
			out[unit] = int(r.label)
		}
	}
	return out
}

// pairs compares judges two by two.
func (j *judges) pairs(t *analysis.Table) error {
	order := j.judges.Sorted()
	for x, a := range order {
		first := j.labelsOf(a)
		for _, b := range order[x+1:] {
			by := []analysis.Value{{Field: analysis.ByJudge, Value: j.judges.Text(a)}, {Field: analysis.ByAgainst, Value: j.judges.Text(b)}}
			if err := j.pair(t, first, j.labelsOf(b), by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *judges) pair(t *analysis.Table, first, second []int, by []analysis.Value) error {
	counts, both := map[uint32]stats.Count{}, []int{}
	for unit := range first {
		if c := j.places[unit]; min(first[unit], second[unit]) >= 0 {
			counts[c] = stats.Count{K: counts[c].K + int(gather.One(first[unit] == second[unit])), N: counts[c].N + 1}
			both = append(both, unit)
		}
	}
	n := len(both)
	same, kappa := j.finding(analysis.WhatAgreement, analysis.Share, n, by...), j.finding(analysis.WhatKappa, analysis.Index, n, by...)
	if n == 0 {
		t.Findings = append(t.Findings, same.Unknown("they have labelled nothing in common"),
			kappa.Unknown("they have labelled nothing in common"))
		return nil
	}
	e, err := gather.Share(slices.Values(gather.ByKey(counts)), j.Options.Level)
	if err != nil {
		return err
	}
	e.Put(same)
	cohen, err := j.panel.Of(both).Cohen(gather.Permuted(first, both), gather.Permuted(second, both), j.labels.Len())
	if err != nil {
		return err
	}
	put(kappa, cohen, "Cohen")
	if kappa.Value.OK && !kappa.SE.OK && same.Value.Value == 1 {
		kappa.Interval = stats.NoInterval("they agree on everything: nothing shows how far they could differ")
	}
	kappa.Clusters = same.Clusters
	t.Findings = append(t.Findings, *same, *kappa)
	return nil
}

// put fills in an index.
func put(f *analysis.Finding, i stats.Index, method string) {
	f.Value, f.SE, f.Interval, f.Method = i.Value, i.SE, i.Interval, method+", Student, by cluster"
}

// all measures all judges together.
func (j *judges) all(t *analysis.Table) error {
	labelled := j.labels.Len() > 0
	counts, n := make([][]int, j.units.Len()), make([]int, j.units.Len())
	var given []stats.Rating
	for unit := range counts {
		counts[unit] = make([]int, j.labels.Len())
		for judge := range j.judges.Len() {
			r, ok := j.ratings[uint64(unit)<<32|uint64(judge)]
			switch {
			case !ok || labelled && r.label < 0:
				continue
			case labelled:
				counts[unit][r.label]++
				given = append(given, stats.Rating{Unit: unit, Value: float64(r.label)})
			default:
				given = append(given, stats.Rating{Unit: unit, Value: r.score})
			}
			n[unit]++
		}
	}
	scale, named := stats.NominalScale, "Krippendorff, nominal"
	if !labelled {
		scale, named = stats.IntervalScale, "Krippendorff, interval"
	}
	alpha, err := j.panel.Alpha(given, scale)
	if err != nil {
		return err
	}
	j.add(t, analysis.WhatAlpha, named, len(counts), atLeast(n, 2), alpha)
	if !labelled {
		return nil
	}
	if whole := atLeast(n, j.judges.Len()); len(whole) > 0 {
		fleiss, err := j.panel.Of(whole).Fleiss(gather.Permuted(counts, whole))
		if err != nil {
			return err
		}
		j.add(t, analysis.WhatFleiss, "Fleiss, over answers that all judged", len(whole), whole, fleiss)
	}
	ac1, err := j.panel.AC1(counts)
	rated := atLeast(n, 1)
	j.add(t, analysis.WhatAC1, "Gwet", len(rated), rated, ac1)
	return err
}

// atLeast returns the units that have so many ratings.
func atLeast(n []int, least int) (units []int) {
	for unit := range n {
		if n[unit] >= least {
			units = append(units, unit)
		}
	}
	return units
}

// add reports an index over all judges, which rests on some of the units.
func (j *judges) add(t *analysis.Table, what, method string, n int, units []int, i stats.Index) {
	f := j.finding(what, analysis.Index, n)
	put(f, i, method)
	clusters := map[uint32]bool{}
	for _, unit := range units {
		clusters[j.places[unit]] = true
	}
	f.Clusters = len(clusters)
	t.Findings = append(t.Findings, *f)
}
