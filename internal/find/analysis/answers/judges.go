package answers

import (
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
	ratings map[uint64]rating // by unit and judge
	sums    map[[2]uint32]stats.Total
	cover   gather.Groups[struct{}]
	key     []byte
}

type rating struct {
	label int32
	score float64
}

// NewJudges returns the collector of several judges' verdicts on the same answers.
func NewJudges(a gather.Job) gather.Collector {
	j := &judges{Job: a, yes: a.Stage.Yes(), ratings: map[uint64]rating{}, sums: map[[2]uint32]stats.Total{}}
	j.cover = gather.NewGroups([]string{analysis.ByJudge}, func() struct{} { return struct{}{} })
	return j
}

func (j *judges) Expect(r *analysis.Row) { j.cover.Expect(r) }

func (j *judges) Add(r *analysis.Row) {
	j.cover.Of(r).Cover.Count(r)
	if !r.Valid() {
		return
	}
	judge := j.judges.Of(r.Judge)
	value, ok := j.value(r)
	if j.Stage.Verb == analysis.Judged && ok {
		k := [2]uint32{judge, j.lanes.Of(r.Lane)}
		t := j.sums[k]
		j.sums[k] = stats.Total{N: t.N + 1, Sum: t.Sum + value}
	}
	j.key = analysis.AppendText(r.AppendUnit(j.key[:0]), r.Lane, r.Other, r.Trait, r.Prompt)
	if r.Vote > 0 || len(j.units.List) >= gather.MaxUnits {
		return
	}
	unit := j.units.OfBytes(j.key)
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
	for _, step := range []func(*analysis.Table) error{j.pairs, j.disagreeing, j.all, j.spread, j.deltas} {
		if err := step(&t); err != nil {
			return nil, err
		}
	}
	if rest := slices.DeleteFunc(slices.Clone(j.Spec.By),
		func(f string) bool { return f == analysis.ByLane || f == analysis.ByJudge }); len(rest) > 0 {
		t.Note("over everything that was judged, not by %s", strings.Join(rest, ", "))
	}
	if len(j.units.List) >= gather.MaxUnits {
		t.Note("agreement is computed over the first %d answers", gather.MaxUnits)
	}
	return []analysis.Table{t}, nil
}

func (j *judges) finding(what string, u analysis.Unit, n int, by ...analysis.Value) *analysis.Finding {
	return &analysis.Finding{What: what, Unit: u, N: n, Clusters: n, By: by, Coverage: j.cover.Totals(),
		Bounds: stats.NoInterval("not computed"), Rule: j.Stage.CountingRule()}
}

// category returns a rating as a category: its label, or its score where the rubric has no labels.
func (j *judges) category(r rating) (int, bool) {
	if r.label >= 0 {
		return int(r.label), true
	}
	return 0, false
}

// pairs compares judges two by two.
func (j *judges) pairs(t *analysis.Table) error {
	order := j.judges.Sorted()
	for x, a := range order {
		for _, b := range order[x+1:] {
			var first, second []int
			for unit := range j.units.List {
				ra, okA := j.ratings[uint64(unit)<<32|uint64(a)]
				rb, okB := j.ratings[uint64(unit)<<32|uint64(b)]
				ca, labelA := j.category(ra)
				cb, labelB := j.category(rb)
				if okA && okB && labelA && labelB {
					first, second = append(first, ca), append(second, cb)
				}
			}
			by := []analysis.Value{{Field: analysis.ByJudge, Value: j.judges.List[a]}, {Field: analysis.ByAgainst, Value: j.judges.List[b]}}
			if err := j.pair(t, first, second, by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *judges) pair(t *analysis.Table, first, second []int, by []analysis.Value) error {
	same, kappa := j.finding(analysis.WhatAgreement, analysis.Share, len(first), by...),
		j.finding(analysis.WhatKappa, analysis.Index, len(first), by...)
	if len(first) == 0 {
		t.Findings = append(t.Findings, same.Unknown("they have labelled nothing in common"),
			kappa.Unknown("they have labelled nothing in common"))
		return nil
	}
	a, err := stats.Agree(first, second, len(j.labels.List))
	if err != nil {
		return err
	}
	k := 0
	for i := range first {
		k += int(gather.One(first[i] == second[i]))
	}
	r := stats.NewRate(k, len(first), j.Options.Level)
	same.Value, same.SE, same.Interval, same.Method = r.Share, r.SE(), r.Interval, "Wilson"
	kappa.Value, kappa.Method = a.Kappa, "Cohen"
	kappa.Interval = stats.NoInterval("%s", a.SE.Why)
	if a.Kappa.OK && a.SE.OK && a.SE.Value == 0 {
		kappa.Interval = stats.NoInterval("they agree on everything: nothing shows how far they could differ")
	} else if a.Kappa.OK && a.SE.OK {
		kappa.SE, kappa.Interval = a.SE, stats.NormalInterval(a.Kappa.Value, a.SE.Value, j.Options.Level)
	}
	t.Findings = append(t.Findings, *same, *kappa)
	return nil
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
	j.put(t, analysis.WhatAlpha, named, len(counts))(stats.KrippendorffAlpha(given, scale))
	if !labelled {
		return nil
	}
	whole := slices.DeleteFunc(slices.Clone(counts), func(c []int) bool { return sum(c) != len(j.judges.List) })
	if len(whole) > 0 {
		j.put(t, analysis.WhatFleiss, "Fleiss, over answers that all judged", len(whole))(stats.FleissKappa(whole))
	}
	rated := slices.DeleteFunc(counts, func(c []int) bool { return sum(c) == 0 })
	j.put(t, analysis.WhatAC1, "Gwet", len(rated))(stats.GwetAC1(rated))
	return nil
}

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// put adds an index; one that cannot be computed is unknown for that reason.
func (j *judges) put(t *analysis.Table, what, method string, n int) func(stats.Number, error) {
	return func(value stats.Number, err error) {
		f := j.finding(what, analysis.Index, n)
		f.Method = method
		if err != nil {
			value = stats.Undefined("%s", err)
		}
		f.Value, f.Interval = value, stats.NoInterval("not computed")
		t.Findings = append(t.Findings, *f)
	}
}

// spread reports each lane's mean over judges, each judge of equal weight.
func (j *judges) spread(t *analysis.Table) error {
	for _, lane := range j.lanes.Sorted() {
		var means []float64
		n := 0
		for judge := range j.judges.List {
			if s, ok := j.sums[[2]uint32{uint32(judge), lane}]; ok {
				means = append(means, s.Sum/float64(s.N))
				n += s.N
			}
		}
		f := j.finding(analysis.WhatOver, analysis.Score, n, analysis.Value{Field: analysis.ByLane, Value: j.lanes.List[lane]})
		s := stats.OverJudges(means, j.Options.Level)
		f.Value, f.SE, f.Interval, f.Clusters, f.Method = s.Mean, s.SE, s.Interval.Clipped(j.Stage.Low, j.Stage.High), s.Judges,
			"Student over judges, not over items"
		if s.SE.OK && s.SE.Value < 1e-12 {
			f.Interval = stats.NoInterval("all judges give the same: nothing shows how far they could differ")
			f.SE = stats.Undefined("%s", f.Interval.Why)
		}
		sd := j.finding(analysis.WhatSpread, analysis.Score, n, analysis.Value{Field: analysis.ByLane, Value: j.lanes.List[lane]})
		sd.Value, sd.Interval, sd.Clusters, sd.Method = stats.SD(means), stats.NoInterval("not computed"), s.Judges, "sd over judges"
		t.Findings = append(t.Findings, *f, *sd)
	}
	return nil
}

// deltas reports how lenient each judge is, and whether more so to its own family.
func (j *judges) deltas(t *analysis.Table) error {
	var scores []stats.JudgeScore
	for _, judge := range j.judges.Sorted() {
		for _, lane := range j.lanes.Sorted() {
			if s, ok := j.sums[[2]uint32{judge, lane}]; ok {
				scores = append(scores, stats.JudgeScore{Judge: int(judge), Subject: int(lane), Score: s.Sum / float64(s.N)})
			}
		}
	}
	if len(scores) == 0 {
		return nil
	}
	d, err := stats.Deltas(scores)
	if err != nil {
		return err
	}
	j.cells(t, scores, d)
	for _, judge := range j.judges.Sorted() {
		by := analysis.Value{Field: analysis.ByJudge, Value: j.judges.List[judge]}
		f := j.finding(analysis.WhatDelta, analysis.Score, len(d.Deltas)/len(j.judges.List), by)
		f.Value, f.Interval, f.Method = d.Mean[judge], stats.NoInterval("not computed"), "mean over lanes"
		sd := j.finding(analysis.WhatDeltaSD, analysis.Score, f.N, by)
		sd.Value, sd.Interval, sd.Method = d.SD[judge], stats.NoInterval("not computed"), "sd over lanes"
		t.Findings = append(t.Findings, *f, *sd)
		if own := j.family(d, int(judge)); own != nil {
			own.By = []analysis.Value{by}
			t.Findings = append(t.Findings, *own)
		}
	}
	return nil
}

// cells reports what each judge gives each lane, and how far that is from the mean of all judges of the lane.
func (j *judges) cells(t *analysis.Table, scores []stats.JudgeScore, d *stats.JudgeDeltas) {
	for i, s := range scores {
		by := []analysis.Value{{Field: analysis.ByJudge, Value: j.judges.List[s.Judge]},
			{Field: analysis.ByLane, Value: j.lanes.List[s.Subject]}}
		n := j.sums[[2]uint32{uint32(s.Judge), uint32(s.Subject)}].N
		mean, delta := j.finding(analysis.WhatCell, analysis.Score, n, by...), j.finding(analysis.WhatCellDelta, analysis.Score, n, by...)
		mean.Value, mean.Interval, mean.Method = stats.Known(s.Score), stats.NoInterval("not computed: see rates by judge"), "mean"
		delta.Value, delta.Interval, delta.Method = stats.Known(d.Deltas[i].Delta), stats.NoInterval("not computed"),
			"minus the mean over judges"
		t.Findings = append(t.Findings, *mean, *delta)
	}
}

// family returns how much more lenient a judge is to its own family; nil where it has none among the lanes, or no
// other.
func (j *judges) family(d *stats.JudgeDeltas, judge int) *analysis.Finding {
	mine := j.Stage.Families[j.judges.List[judge]]
	var own, others stats.Total
	for _, x := range d.Deltas {
		if x.Judge != judge {
			continue
		}
		to := &others
		if j.Stage.Families[j.lanes.List[x.Subject]] == mine {
			to = &own
		}
		*to = stats.Total{N: to.N + 1, Sum: to.Sum + x.Delta}
	}
	if mine == "" || own.N == 0 || others.N == 0 {
		return nil
	}
	f := j.finding(analysis.WhatFamily, analysis.Score, own.N+others.N)
	f.Value = stats.Known(own.Sum/float64(own.N) - others.Sum/float64(others.N))
	f.Interval, f.Method = stats.NoInterval("not computed: lanes are few"), "deltas of own family minus deltas of others"
	return f
}
