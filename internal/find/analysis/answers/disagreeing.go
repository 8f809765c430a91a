package answers

import (
	"fmt"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// disagreeing names the judges that agree less with the others than these do among themselves.
func (j *judges) disagreeing(t *analysis.Table) error {
	if j.judges.Len() < 3 {
		return nil // of two it is not known who is the odd one
	}
	var p []float64
	var odd []string
	for _, judge := range j.judges.Sorted() {
		with, apart := j.beside(judge)
		m := stats.MeanByCluster(with, j.Options.Level)
		f := j.finding(analysis.WhatWith, analysis.Share, m.N, analysis.Value{Field: analysis.ByJudge, Value: j.judges.Text(judge)})
		if j.labels.Len() == 0 {
			f.What, f.Unit = analysis.WhatDistance, analysis.Score
		}
		f.Value, f.SE, f.Interval, f.Clusters, f.Method = m.Mean, m.SE, m.Interval, m.Clusters, "Student, by cluster"
		if f.Unit == analysis.Share {
			low, high := 0.0, 1.0
			f.Interval = f.Interval.Clipped(&low, &high)
		}
		d := stats.MeanByCluster(apart, j.Options.Level)
		if f.P = d.P; d.Mean.OK {
			f.Note("%+.3f from what the others have among themselves", d.Mean.Value)
		}
		worse := d.Mean.OK && (d.Mean.Value < 0) == (f.Unit == analysis.Share) && d.Mean.Value != 0
		if p = append(p, 1); d.P.OK && worse {
			p[len(p)-1] = d.P.Value
		}
		odd = append(odd, fmt.Sprintf("judge %s disagrees with the others: %s", j.judges.Text(judge), f.Unit.Show(f.Value.Value)))
		t.Findings = append(t.Findings, *f)
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return err
	}
	for i, text := range odd {
		if adjusted[i] < 1-j.Options.Level {
			t.Note("%s (p = %.2g, all judges tested together)", text, adjusted[i])
		}
	}
	return nil
}

// beside is, answer by answer and added up by cluster, how far a judge and the others agree (of labels: the share that
// agrees; of scores: how far they are apart), and by how much that differs from the others among themselves.
func (j *judges) beside(judge uint32) (with, apart []stats.Total) {
	for unit := range j.units.Len() {
		c := int(j.places[unit])
		var own, rest stats.Total
		for a := range j.judges.Len() {
			for b := range a {
				ra, okA := j.ratings[uint64(unit)<<32|uint64(a)]
				rb, okB := j.ratings[uint64(unit)<<32|uint64(b)]
				if !okA || !okB {
					continue
				}
				to := &rest
				if uint32(a) == judge || uint32(b) == judge {
					to = &own
				}
				to.N, to.Sum = to.N+1, to.Sum+j.alike(ra, rb)
			}
		}
		if own.N == 0 {
			continue
		}
		mean := own.Sum / float64(own.N)
		with = gather.Grown(with, c)
		with[c].Add(mean)
		if rest.N > 0 {
			apart = gather.Grown(apart, c)
			apart[c].Add(mean - rest.Sum/float64(rest.N))
		}
	}
	return with, apart
}

// alike returns whether two ratings agree, or how far their scores are apart.
func (j *judges) alike(a, b rating) float64 {
	if j.labels.Len() > 0 {
		return float64(gather.One(a.label == b.label))
	}
	if a.score > b.score {
		return a.score - b.score
	}
	return b.score - a.score
}
