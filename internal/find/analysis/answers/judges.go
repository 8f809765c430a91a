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
	found   int      // clusters
	omitted int      // verdicts on answers beyond those that are kept
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
	if len(j.judges.List) < 2 {
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

// category returns a rating as a category: its label, or its score where the rubric has no labels.
func (j *judges) category(r rating) (int, bool) {
	if r.label >= 0 {
		return int(r.label), true
	}
	return 0, false
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
}

// leftOut returns what a number is without one part after the other.
func (j *judges) leftOut(of func(part int) stats.Number) []stats.Number {
	out := make([]stats.Number, j.n)
	for g := range out {
		out[g] = of(g)
	}
	return out
}

// pairs compares judges two by two.
func (j *judges) pairs(t *analysis.Table) error {
	order := j.judges.Sorted()
	for x, a := range order {
		for _, b := range order[x+1:] {
			var both labelled
			for unit := range j.units.List {
				ra, okA := j.ratings[uint64(unit)<<32|uint64(a)]
				rb, okB := j.ratings[uint64(unit)<<32|uint64(b)]
				ca, labelA := j.category(ra)
				cb, labelB := j.category(rb)
				if okA && okB && labelA && labelB {
					both.first, both.second = append(both.first, ca), append(both.second, cb)
					both.clusters = append(both.clusters, j.places[unit])
				}
			}
			by := []analysis.Value{{Field: analysis.ByJudge, Value: j.judges.List[a]}, {Field: analysis.ByAgainst, Value: j.judges.List[b]}}
			if err := j.pair(t, both, by); err != nil {
				return err
			}
		}
	}
	return nil
}

// labelled are the labels that two judges gave the same answers, and the answers' clusters.
type labelled struct {
	first, second []int
	clusters      []uint32
}

func (j *judges) pair(t *analysis.Table, both labelled, by []analysis.Value) error {
	n := len(both.first)
	same, kappa := j.finding(analysis.WhatAgreement, analysis.Share, n, by...), j.finding(analysis.WhatKappa, analysis.Index, n, by...)
	if n == 0 {
		t.Findings = append(t.Findings, same.Unknown("they have labelled nothing in common"),
			kappa.Unknown("they have labelled nothing in common"))
		return nil
	}
	counts := map[uint32]stats.Count{}
	for i, c := range both.clusters {
		counts[c] = stats.Count{K: counts[c].K + int(gather.One(both.first[i] == both.second[i])), N: counts[c].N + 1}
	}
	e, err := gather.Share(slices.Collect(maps.Values(counts)), j.Options.Level)
	if err != nil {
		return err
	}
	e.Put(same)
	value := j.kappa(both, -1)
	j.index(kappa, value, j.leftOut(func(g int) stats.Number { return j.kappa(both, g) }), "Cohen")
	if value.OK && !kappa.SE.OK && same.Value.Value == 1 {
		kappa.Interval = stats.NoInterval("they agree on everything: nothing shows how far they could differ")
	}
	kappa.Clusters = same.Clusters
	t.Findings = append(t.Findings, *same, *kappa)
	return nil
}

// kappa returns Cohen's kappa without a part; -1: of all.
func (j *judges) kappa(both labelled, without int) stats.Number {
	var first, second []int
	for i, c := range both.clusters {
		if j.parts[c] != without {
			first, second = append(first, both.first[i]), append(second, both.second[i])
		}
	}
	a, err := stats.Agree(first, second, len(j.labels.List))
	if err != nil {
		return stats.Undefined("%s", err)
	}
	return a.Kappa
}

// index fills in an index that is 1 at most, with its error from parts that are left out.
func (j *judges) index(f *analysis.Finding, value stats.Number, without []stats.Number, method string) {
	least, most := -1.0, 1.0
	f.Value, f.Method = value, method+", Student, by cluster"
	f.SE, f.Interval = stats.LeftOut(value, without, j.Options.Level)
	f.Interval = f.Interval.Clipped(&least, &most)
}

// all measures all judges together.
func (j *judges) all(t *analysis.Table) error {
	labelled := len(j.labels.List) > 0
	counts := make([][]int, len(j.units.List))
	var given []stats.Rating
	for unit := range counts {
		counts[unit] = make([]int, len(j.labels.List))
		for judge := range j.judges.List {
			r, ok := j.ratings[uint64(unit)<<32|uint64(judge)]
			if !ok {
				continue
			}
			if c, ok := j.category(r); ok && labelled {
				counts[unit][c]++
				given = append(given, stats.Rating{Unit: unit, Value: float64(c)})
			} else if !labelled {
				given = append(given, stats.Rating{Unit: unit, Value: r.score})
			}
		}
	}
	scale, named := stats.NominalScale, "Krippendorff, nominal"
	if !labelled {
		scale, named = stats.IntervalScale, "Krippendorff, interval"
	}
	j.put(t, analysis.WhatAlpha, named, len(counts), func(g int) (stats.Number, error) {
		return stats.KrippendorffAlpha(slices.DeleteFunc(slices.Clone(given), func(r stats.Rating) bool { return j.leaves(r.Unit, g) }),
			scale)
	})
	if !labelled {
		return nil
	}
	chosen := func(wants func(n int) bool) (out []int) {
		for unit, c := range counts {
			if wants(sum(c)) {
				out = append(out, unit)
			}
		}
		return out
	}
	of := func(units []int, index func([][]int) (stats.Number, error)) func(int) (stats.Number, error) {
		return func(g int) (stats.Number, error) {
			var kept [][]int
			for _, unit := range units {
				if !j.leaves(unit, g) {
					kept = append(kept, counts[unit])
				}
			}
			return index(kept)
		}
	}
	if whole := chosen(func(n int) bool { return n == len(j.judges.List) }); len(whole) > 0 {
		j.put(t, analysis.WhatFleiss, "Fleiss, over answers that all judged", len(whole), of(whole, stats.FleissKappa))
	}
	rated := chosen(func(n int) bool { return n > 0 })
	j.put(t, analysis.WhatAC1, "Gwet", len(rated), of(rated, stats.GwetAC1))
	return nil
}

// leaves reports whether a unit is in a part.
func (j *judges) leaves(unit, part int) bool { return j.parts[j.places[unit]] == part }

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// put adds an index, which is computed without one part after the other, too; one that cannot be computed is unknown for
// that reason.
func (j *judges) put(t *analysis.Table, what, method string, n int, of func(without int) (stats.Number, error)) {
	number := func(part int) stats.Number {
		value, err := of(part)
		if err != nil {
			return stats.Undefined("%s", err)
		}
		return value
	}
	f := j.finding(what, analysis.Index, n)
	j.index(f, number(-1), j.leftOut(number), method)
	t.Findings = append(t.Findings, *f)
}
