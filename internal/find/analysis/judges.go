package analysis

import (
	"slices"
	"strings"

	"assay/internal/find/stats"
)

// What the findings about judges are called.
const (
	WhatAgreement = "agreement" // share of equal labels, over pairs of judges
	WhatWith      = "agreement with others"
	WhatDistance  = "distance from others" // of scores: how far apart on the same answer
	WhatKappa     = "kappa"                // Cohen's, of two judges
	WhatFleiss    = "fleiss"               // Fleiss' kappa of all judges
	WhatAlpha     = "alpha"                // Krippendorff's
	WhatAC1       = "ac1"                  // Gwet's
	WhatOver      = "mean over judges"     // each of equal weight; its interval is not an error over items
	WhatSpread    = "spread over judges"   // sd of what the judges give a lane
	WhatCell      = "judge mean of lane"   // what one judge gives one lane
	WhatCellDelta = "judge delta of lane"
	WhatDelta     = "judge delta"        // how far a judge is above the mean of all judges of the same lanes
	WhatDeltaSD   = "judge delta spread" // sd of a judge's deltas over lanes
	WhatFamily    = "own family"         // delta on lanes of the judge's own family minus delta on others
)

// maxUnits is how many judged answers agreement is computed over; what has to be kept grows with them.
const maxUnits = 2_000_000

// judges gathers what several judges said about the same answers.
type judges struct {
	stage   *Stage
	spec    Spec
	options Options
	yes     []string
	judges  names
	labels  names
	lanes   names
	units   names
	ratings map[uint64]rating // by unit and judge
	sums    map[[2]uint32]total
	cover   groups[struct{}]
	key     []byte
}

type rating struct {
	label int32
	score float64
}

func newJudges(stage *Stage, s Spec, o Options) *judges {
	j := &judges{stage: stage, spec: s, options: o, yes: stage.yes(), ratings: map[uint64]rating{}, sums: map[[2]uint32]total{}}
	j.cover = newGroups([]string{ByJudge}, func() struct{} { return struct{}{} })
	return j
}

func (j *judges) expect(r *Row) { j.cover.expect(r) }

func (j *judges) add(r *Row) {
	j.cover.of(r).cover.count(r)
	if !r.valid() {
		return
	}
	judge := j.judges.of(r.Judge)
	value, ok := j.value(r)
	if j.stage.Verb == Judged && ok {
		k := [2]uint32{judge, j.lanes.of(r.Lane)}
		t := j.sums[k]
		j.sums[k] = total{t.n + 1, t.sum + value}
	}
	j.key = appendText(r.appendUnit(j.key[:0]), r.Lane, r.Other, r.Trait, r.Prompt)
	if r.Vote > 0 || len(j.units.list) >= maxUnits {
		return
	}
	unit := j.units.ofBytes(j.key)
	given := rating{label: -1, score: value}
	if r.Label != "" {
		given.label = int32(j.labels.of(r.Label))
	}
	j.ratings[uint64(unit)<<32|uint64(judge)] = given
}

// value is the verdict as a number.
func (j *judges) value(r *Row) (float64, bool) { return valueOf(r, j.yes, j.stage.Flips) }

// valueOf is a verdict as a number: yes or no, its score, or whether it is what was expected. Scored takes the score where a
// label has both.
func valueOf(r *Row, yes []string, scored bool) (float64, bool) {
	switch {
	case len(yes) > 0 && !scored && r.Label != "":
		return float64(one(slices.Contains(yes, r.Label))), true
	case r.Score != nil:
		return *r.Score, true
	case r.Expect != "":
		return float64(one(r.Label == r.Expect)), true
	}
	return 0, false
}

func (j *judges) tables() ([]Table, error) {
	t := Table{Title: "judges", By: []string{ByJudge, ByAgainst, ByLane}, Coverage: j.cover.totals()}
	if len(j.judges.list) < 2 {
		f := Finding{What: WhatAgreement, Unit: Share, Coverage: t.Coverage, Bounds: stats.NoInterval("not computed")}
		t.Findings = append(t.Findings, f.unknown("agreement needs two judges"))
		return []Table{t}, nil
	}
	for _, step := range []func(*Table) error{j.pairs, j.disagreeing, j.all, j.spread, j.deltas} {
		if err := step(&t); err != nil {
			return nil, err
		}
	}
	if rest := slices.DeleteFunc(slices.Clone(j.spec.By), func(f string) bool { return f == ByLane || f == ByJudge }); len(rest) > 0 {
		t.note("over everything that was judged, not by %s", strings.Join(rest, ", "))
	}
	if len(j.units.list) >= maxUnits {
		t.note("agreement is computed over the first %d answers", maxUnits)
	}
	return []Table{t}, nil
}

func (j *judges) finding(what string, u Unit, n int, by ...Value) *Finding {
	return &Finding{What: what, Unit: u, N: n, Clusters: n, By: by, Coverage: j.cover.totals(), Bounds: stats.NoInterval("not computed"), Rule: rule(j.stage)}
}

// category is a rating as a category: its label, or its score where the rubric has no labels.
func (j *judges) category(r rating) (int, bool) {
	if r.label >= 0 {
		return int(r.label), true
	}
	return 0, false
}

// pairs compares judges two by two.
func (j *judges) pairs(t *Table) error {
	order := j.judges.sorted()
	for x, a := range order {
		for _, b := range order[x+1:] {
			var first, second []int
			for unit := range j.units.list {
				ra, okA := j.ratings[uint64(unit)<<32|uint64(a)]
				rb, okB := j.ratings[uint64(unit)<<32|uint64(b)]
				ca, labelA := j.category(ra)
				cb, labelB := j.category(rb)
				if okA && okB && labelA && labelB {
					first, second = append(first, ca), append(second, cb)
				}
			}
			by := []Value{{ByJudge, j.judges.list[a]}, {ByAgainst, j.judges.list[b]}}
			if err := j.pair(t, first, second, by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *judges) pair(t *Table, first, second []int, by []Value) error {
	same, kappa := j.finding(WhatAgreement, Share, len(first), by...), j.finding(WhatKappa, Index, len(first), by...)
	if len(first) == 0 {
		t.Findings = append(t.Findings, same.unknown("they have labelled nothing in common"), kappa.unknown("they have labelled nothing in common"))
		return nil
	}
	a, err := stats.Agree(first, second, len(j.labels.list))
	if err != nil {
		return err
	}
	k := 0
	for i := range first {
		k += int(one(first[i] == second[i]))
	}
	r := stats.NewRate(k, len(first), j.options.Level)
	same.Value, same.SE, same.Interval, same.Method = r.Share, r.SE(), r.Interval, "Wilson"
	kappa.Value, kappa.Method = a.Kappa, "Cohen"
	kappa.Interval = stats.NoInterval("%s", a.SE.Why)
	if a.Kappa.OK && a.SE.OK && a.SE.Value == 0 {
		kappa.Interval = stats.NoInterval("they agree on everything: nothing shows how far they could differ")
	} else if a.Kappa.OK && a.SE.OK {
		kappa.SE, kappa.Interval = a.SE, stats.NormalInterval(a.Kappa.Value, a.SE.Value, j.options.Level)
	}
	t.Findings = append(t.Findings, *same, *kappa)
	return nil
}

// all measures all judges together.
func (j *judges) all(t *Table) error {
	labelled := len(j.labels.list) > 0
	counts := make([][]int, len(j.units.list))
	var given []stats.Rating
	for unit := range counts {
		counts[unit] = make([]int, len(j.labels.list))
		for judge := range j.judges.list {
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
	j.put(t, WhatAlpha, named, len(counts))(stats.KrippendorffAlpha(given, scale))
	if !labelled {
		return nil
	}
	whole := slices.DeleteFunc(slices.Clone(counts), func(c []int) bool { return sum(c) != len(j.judges.list) })
	if len(whole) > 0 {
		j.put(t, WhatFleiss, "Fleiss, over answers that all judged", len(whole))(stats.FleissKappa(whole))
	}
	rated := slices.DeleteFunc(counts, func(c []int) bool { return sum(c) == 0 })
	j.put(t, WhatAC1, "Gwet", len(rated))(stats.GwetAC1(rated))
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
func (j *judges) put(t *Table, what, method string, n int) func(stats.Number, error) {
	return func(value stats.Number, err error) {
		f := j.finding(what, Index, n)
		f.Method = method
		if err != nil {
			value = stats.Undefined("%s", err)
		}
		f.Value, f.Interval = value, stats.NoInterval("not computed")
		t.Findings = append(t.Findings, *f)
	}
}

// spread reports each lane's mean over judges, each judge of equal weight.
func (j *judges) spread(t *Table) error {
	for _, lane := range j.lanes.sorted() {
		var means []float64
		n := 0
		for judge := range j.judges.list {
			if s, ok := j.sums[[2]uint32{uint32(judge), lane}]; ok {
				means = append(means, s.sum/float64(s.n))
				n += s.n
			}
		}
		f := j.finding(WhatOver, Score, n, Value{ByLane, j.lanes.list[lane]})
		s := stats.OverJudges(means, j.options.Level)
		f.Value, f.SE, f.Interval, f.Clusters, f.Method = s.Mean, s.SE, clipped(s.Interval, j.stage.Low, j.stage.High), s.Judges, "Student over judges, not over items"
		if s.SE.OK && s.SE.Value < 1e-12 {
			f.Interval = stats.NoInterval("all judges give the same: nothing shows how far they could differ")
			f.SE = stats.Undefined("%s", f.Interval.Why)
		}
		sd := j.finding(WhatSpread, Score, n, Value{ByLane, j.lanes.list[lane]})
		sd.Value, sd.Interval, sd.Clusters, sd.Method = stats.SD(means), stats.NoInterval("not computed"), s.Judges, "sd over judges"
		t.Findings = append(t.Findings, *f, *sd)
	}
	return nil
}

// deltas reports how lenient each judge is, and whether more so to its own family.
func (j *judges) deltas(t *Table) error {
	var scores []stats.JudgeScore
	for _, judge := range j.judges.sorted() {
		for _, lane := range j.lanes.sorted() {
			if s, ok := j.sums[[2]uint32{judge, lane}]; ok {
				scores = append(scores, stats.JudgeScore{Judge: int(judge), Subject: int(lane), Score: s.sum / float64(s.n)})
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
	for _, judge := range j.judges.sorted() {
		by := Value{ByJudge, j.judges.list[judge]}
		f := j.finding(WhatDelta, Score, len(d.Deltas)/len(j.judges.list), by)
		f.Value, f.Interval, f.Method = d.Mean[judge], stats.NoInterval("not computed"), "mean over lanes"
		sd := j.finding(WhatDeltaSD, Score, f.N, by)
		sd.Value, sd.Interval, sd.Method = d.SD[judge], stats.NoInterval("not computed"), "sd over lanes"
		t.Findings = append(t.Findings, *f, *sd)
		if own := j.family(d, int(judge)); own != nil {
			own.By = []Value{by}
			t.Findings = append(t.Findings, *own)
		}
	}
	return nil
}

// cells reports what each judge gives each lane, and how far that is from the mean of all judges of the lane.
func (j *judges) cells(t *Table, scores []stats.JudgeScore, d *stats.JudgeDeltas) {
	for i, s := range scores {
		by := []Value{{ByJudge, j.judges.list[s.Judge]}, {ByLane, j.lanes.list[s.Subject]}}
		n := j.sums[[2]uint32{uint32(s.Judge), uint32(s.Subject)}].n
		mean, delta := j.finding(WhatCell, Score, n, by...), j.finding(WhatCellDelta, Score, n, by...)
		mean.Value, mean.Interval, mean.Method = stats.Known(s.Score), stats.NoInterval("not computed: see rates by judge"), "mean"
		delta.Value, delta.Interval, delta.Method = stats.Known(d.Deltas[i].Delta), stats.NoInterval("not computed"), "minus the mean over judges"
		t.Findings = append(t.Findings, *mean, *delta)
	}
}

// family is how much more lenient a judge is to its own family; nil where it has none among the lanes, or no other.
func (j *judges) family(d *stats.JudgeDeltas, judge int) *Finding {
	mine := j.stage.Families[j.judges.list[judge]]
	var own, others total
	for _, x := range d.Deltas {
		if x.Judge != judge {
			continue
		}
		to := &others
		if j.stage.Families[j.lanes.list[x.Subject]] == mine {
			to = &own
		}
		*to = total{to.n + 1, to.sum + x.Delta}
	}
	if mine == "" || own.n == 0 || others.n == 0 {
		return nil
	}
	f := j.finding(WhatFamily, Score, own.n+others.n)
	f.Value = stats.Known(own.sum/float64(own.n) - others.sum/float64(others.n))
	f.Interval, f.Method = stats.NoInterval("not computed: lanes are few"), "deltas of own family minus deltas of others"
	return f
}
