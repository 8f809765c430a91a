package answers

import (
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// scores returns what each judge gives each lane, each item of equal weight, without a part; -1: of all.
func (j *judges) scores(without int) (out []stats.JudgeScore) {
	for _, judge := range j.judges.Sorted() {
		for _, lane := range j.lanes.Sorted() {
			s := j.sums[[2]uint32{judge, lane}]
			if s == nil {
				continue
			}
			var t stats.Total
			for k := range s.Items.Len() {
				if j.parts[j.own[s.Items.ID(k)]-1] != without {
					t.Add(s.Mean(k))
				}
			}
			if t.N > 0 {
				out = append(out, stats.JudgeScore{Judge: int(judge), Subject: int(lane), Score: t.Sum / float64(t.N)})
			}
		}
	}
	return out
}

// verdicts returns the number of verdicts of a judge on a lane.
func (j *judges) verdicts(judge, lane int) (n int) {
	if s := j.sums[[2]uint32{uint32(judge), uint32(lane)}]; s != nil {
		for k := range s.Items.Len() {
			n += s.Total(k).N
		}
	}
	return n
}

// spread reports each lane's mean over judges, each judge of equal weight, with its error over items.
func (j *judges) spread(t *analysis.Table) error {
	all := j.scores(-1)
	parts := make([][]stats.JudgeScore, j.n)
	for g := range parts {
		parts[g] = j.scores(g)
	}
	of := func(scores []stats.JudgeScore, lane int) (means []float64) {
		for _, s := range scores {
			if s.Subject == lane {
				means = append(means, s.Score)
			}
		}
		return means
	}
	for _, lane := range j.lanes.Sorted() {
		means, n := of(all, int(lane)), 0
		for judge := range j.judges.Len() {
			n += j.verdicts(judge, int(lane))
		}
		by := analysis.Value{Field: analysis.ByLane, Value: j.lanes.Text(lane)}
		f, sd := j.finding(analysis.WhatOver, analysis.Score, n, by), j.finding(analysis.WhatSpread, analysis.Score, n, by)
		j.fill(f, stats.Mean(means), func(g int) stats.Number { return stats.Mean(of(parts[g], int(lane))) }, "mean over judges")
		f.Interval = f.Interval.Clipped(j.Stage.Low, j.Stage.High)
		if over := stats.OverJudges(means, j.Options.Level); over.SE.OK && !stats.Same(over.SE.Value, 0) {
			in := over.Interval.Clipped(j.Stage.Low, j.Stage.High)
			f.Note("over %s as a sample of judges, items taken as given: %.3g to %.3g", analysis.Plural(over.Judges, "judge"),
				in.Low, in.High)
		}
		j.fill(sd, stats.SD(means), func(g int) stats.Number { return stats.SD(of(parts[g], int(lane))) }, "sd over judges")
		sd.Interval = sd.Interval.Clipped(new(float64), nil)
		t.Findings = append(t.Findings, *f, *sd)
	}
	return nil
}

// fill fills in a number with its error from parts that are left out.
func (j *judges) fill(f *analysis.Finding, value stats.Number, without func(part int) stats.Number, method string) {
	f.Value, f.Method = value, method+", Student, by cluster"
	f.SE, f.Interval = stats.LeftOut(value, j.leftOut(without), j.Options.Level)
}

// deltas reports how lenient each judge is, and whether more so to its own family.
func (j *judges) deltas(t *analysis.Table) error {
	scores := j.scores(-1)
	if len(scores) == 0 {
		return nil
	}
	d, err := stats.Deltas(scores)
	if err != nil {
		return err
	}
	parts := make([]*stats.JudgeDeltas, j.n)
	for g := range parts {
		if parts[g], err = stats.Deltas(j.scores(g)); err != nil {
			return err
		}
	}
	j.cells(t, scores, d, parts)
	at := func(list []stats.Number, judge uint32) stats.Number {
		if int(judge) >= len(list) {
			return stats.Undefined("without one cluster the judge has no verdict")
		}
		return list[judge]
	}
	for _, judge := range j.judges.Sorted() {
		by := analysis.Value{Field: analysis.ByJudge, Value: j.judges.Text(judge)}
		f := j.finding(analysis.WhatDelta, analysis.Score, len(d.Deltas)/j.judges.Len(), by)
		sd := j.finding(analysis.WhatDeltaSD, analysis.Score, f.N, by)
		j.fill(f, at(d.Mean, judge), func(g int) stats.Number { return at(parts[g].Mean, judge) }, "mean over lanes")
		j.fill(sd, at(d.SD, judge), func(g int) stats.Number { return at(parts[g].SD, judge) }, "sd over lanes")
		sd.Interval = sd.Interval.Clipped(new(float64), nil)
		t.Findings = append(t.Findings, *f, *sd)
		if favour := j.favour(d, int(judge)); favour.OK && j.Spec.Method == analysis.JudgeBias {
			unit := analysis.Score
			if len(j.yes) > 0 && !j.Stage.Flips { // as what it favours
				unit = analysis.Share
			}
			own := j.finding(analysis.WhatFamily, unit, f.N, by)
			j.fill(own, favour, func(g int) stats.Number { return j.favour(parts[g], int(judge)) }, "own family minus others")
			own.Note("the lanes are taken as given")
			t.Findings = append(t.Findings, *own)
		}
	}
	return nil
}

// cells reports what each judge gives each lane, and how far that is from the mean of all judges of the lane.
func (j *judges) cells(t *analysis.Table, scores []stats.JudgeScore, d *stats.JudgeDeltas, parts []*stats.JudgeDeltas) {
	for i, s := range scores {
		by := []analysis.Value{{Field: analysis.ByJudge, Value: j.judges.Text(uint32(s.Judge))},
			{Field: analysis.ByLane, Value: j.lanes.Text(uint32(s.Subject))}}
		n := j.verdicts(s.Judge, s.Subject)
		mean, delta := j.finding(analysis.WhatCell, analysis.Score, n, by...), j.finding(analysis.WhatCellDelta, analysis.Score, n, by...)
		mean.Value, mean.Interval, mean.Method = stats.Known(s.Score), stats.NoInterval("not computed: see rates by judge"), "mean"
		j.fill(delta, stats.Known(d.Deltas[i].Delta), func(g int) stats.Number {
			for _, x := range parts[g].Deltas {
				if x.Judge == s.Judge && x.Subject == s.Subject {
					return stats.Known(x.Delta)
				}
			}
			return stats.Undefined("without one cluster the judge has no verdict on the lane")
		}, "minus the mean over judges")
		t.Findings = append(t.Findings, *mean, *delta)
	}
}

// favour returns how much more lenient a judge is to its own family; unknown where it has none among the lanes, or no other.
func (j *judges) favour(d *stats.JudgeDeltas, judge int) stats.Number {
	mine := j.Stage.Families[j.judges.Text(uint32(judge))]
	var own, others stats.Total
	for _, x := range d.Deltas {
		if x.Judge != judge {
			continue
		}
		to := &others
		if j.Stage.Families[j.lanes.Text(uint32(x.Subject))] == mine {
			to = &own
		}
		to.Add(x.Delta)
	}
	if mine == "" || own.N == 0 || others.N == 0 {
		return stats.Undefined("the judge has no lanes of its own family, or no others")
	}
	return stats.Known(own.Sum/float64(own.N) - others.Sum/float64(others.N))
}
