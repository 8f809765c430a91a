package stats

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// sequence is the input of the Elo cases.
type sequence struct {
	Items        []string
	Sequence     [][]any
	Permutations [][]int
}

func (s sequence) pairs() Pairs {
	var p Pairs
	for _, row := range s.Sequence {
		a, b := slices.Index(s.Items, row[0].(string)), slices.Index(s.Items, row[1].(string))
		p.Append(uint16(a), uint16(b), resultOf(row[2].(float64)))
	}
	return p
}

func eloCase(t *testing.T, c *refCase) (sequence, EloOptions) {
	t.Helper()
	var in sequence
	c.input(t, &in)
	var p struct{ K, Initial float64 }
	c.params(t, &p)
	return in, EloOptions{K: p.K, Start: p.Initial, Scale: 400}
}

func solveElo(t *testing.T, c *refCase) object {
	in, o := eloCase(t, c)
	ratings, err := Elo(len(in.Items), in.pairs(), o)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{"ratings": ratings}}
}

func solveEloPermuted(t *testing.T, c *refCase) object {
	in, o := eloCase(t, c)
	p, runs := in.pairs(), make([][]float64, len(in.Items))
	for _, order := range in.Permutations {
		var turned Pairs
		for _, k := range order {
			turned.Append(p.First[k], p.Second[k], p.Result[k])
		}
		ratings, err := Elo(len(in.Items), turned, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range ratings {
			runs[i] = append(runs[i], r)
		}
	}
	var mean, sd []Number
	for _, r := range runs {
		mean, sd = append(mean, Mean(r)), append(sd, SD(r))
	}
	return object{"expected": object{"mean": mean, "sd_sample": sd}}
}

func solveEloShuffled(t *testing.T, c *refCase) object {
	const runs, referenceRuns = 2000, 4000
	in, o := eloCase(t, c)
	got, err := EloShuffled(len(in.Items), in.pairs(), o, runs, 1)
	if err != nil {
		t.Fatal(err)
	}
	sd := c.blocks["expected"].(object)["sd"].([]any)
	var means, sds []any
	for i := range got.Mean {
		s := sd[i].(float64)
		means = append(means, near{got.Mean[i], 5 * s * math.Sqrt(1./runs+1./referenceRuns)})
		sds = append(sds, near{got.SD[i].Value, 5 * s * math.Sqrt(0.5/runs+0.5/referenceRuns)})
	}
	return object{"expected": object{"mean": means, "sd": sds}}
}

func solveKappa(t *testing.T, c *refCase) object {
	var in struct {
		Rater1, Rater2 []int
		Categories     int
	}
	c.input(t, &in)
	cohen, fleiss, ac1 := indexes(t, in.Rater1, in.Rater2, in.Categories)
	// Of two raters, Fleiss' kappa is Scott's pi.
	return object{"expected": object{"kappa": cohen.Value, "gwet_ac1": ac1.Value, "scott_pi": fleiss.Value}}
}

func solveFleiss(t *testing.T, c *refCase) object {
	var in struct{ Counts [][]int }
	c.input(t, &in)
	kappa, err := panelOf(len(in.Counts)).Fleiss(in.Counts)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{"kappa": kappa.Value}}
}

func solveKrippendorff(t *testing.T, c *refCase) object {
	var in struct {
		RatersByUnits [][]*float64 `json:"raters_by_units"`
	}
	c.input(t, &in)
	var ratings []Rating
	for _, rater := range in.RatersByUnits {
		for unit, v := range rater {
			if v != nil {
				ratings = append(ratings, Rating{unit, *v})
			}
		}
	}
	got := object{}
	for name, scale := range map[string]Scale{
		"nominal": NominalScale, "ordinal": OrdinalScale, "interval": IntervalScale, "ratio": RatioScale,
	} {
		alpha, err := panelOf(len(in.RatersByUnits[0])).Alpha(ratings, scale)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = alpha.Value
	}
	return object{"expected": got}
}

func solveProportion(t *testing.T, c *refCase) object {
	var in struct {
		K, N int
		Conf float64
	}
	c.input(t, &in)
	return object{"expected": object{
		"p": NewRate(in.K, in.N, in.Conf).Share, "wilson": Wilson(in.K, in.N, in.Conf),
	}}
}

func solveBinomial(t *testing.T, c *refCase) object {
	var in struct {
		K, N int
		P    float64
	}
	c.input(t, &in)
	return object{"expected": object{"p_value": BinomialTest(in.K, in.N, in.P)}}
}

func mcNemarBlock(m McNemar) object {
	return object{
		"b": m.B, "c": m.C, "exact_p": m.Exact, "midp": m.MidP,
		"chi2": m.Chi2, "chi2_p": m.Chi2P, "chi2_cc": m.Chi2CC, "chi2_cc_p": m.CCP,
	}
}

func solveMcNemar(t *testing.T, c *refCase) object {
	var in struct{ B, C int }
	c.input(t, &in)
	return object{"expected": mcNemarBlock(NewMcNemar(in.B, in.C))}
}

func solveNewcombe(t *testing.T, of *refCase) object {
	var in struct{ Table []int }
	of.input(t, &in)
	table := PairTable{Both: in.Table[0], OnlyFirst: in.Table[1], OnlySecond: in.Table[2], Neither: in.Table[3]}
	d := table.Difference(0.95)
	// The reference leaves Newcombe's correction of the correlation out; pairs_test.go holds the corrected interval.
	a, b, c, d1 := float64(table.Both), float64(table.OnlyFirst), float64(table.OnlySecond), float64(table.Neither)
	plain := 0.0
	if margins := (a + b) * (c + d1) * (a + c) * (b + d1); margins > 0 {
		plain = (a*d1 - b*c) / math.Sqrt(margins)
	}
	without := table.newcombe(0.95, plain)
	return object{"expected": object{"diff": d.Difference, "lo": without.Low, "hi": without.High, "wald_se": d.SE}}
}

func solvePairedClustered(t *testing.T, c *refCase) object {
	var in struct {
		Diff    []float64
		Cluster []int
	}
	c.input(t, &in)
	m := MeanByCluster(totalsOf(in.Diff, in.Cluster), 0.95)
	return object{"expected": object{"n": m.N, "mean": m.Mean, "n_clusters": m.Clusters}}
}

func solveBootstrapGiven(t *testing.T, c *refCase) object {
	var in struct {
		X       []float64
		Indices [][]int `json:"resample_indices"`
	}
	c.input(t, &in)
	var r Replicates
	for _, drawn := range in.Indices {
		s := 0.0
		for _, i := range drawn {
			s += in.X[i]
		}
		r.Values = append(r.Values, s/float64(len(drawn)))
	}
	return object{"expected": object{"boot_mean": r.Mean(), "boot_se": r.SE(), "pct95": r.Interval(0.95)}}
}

func solveBootstrapLimit(t *testing.T, c *refCase) object {
	const resamples = 20000
	var in struct{ X []float64 }
	c.input(t, &in)
	r, err := Bootstrap(len(in.X), resamples, 1, func(drawn []int) Number {
		s := 0.0
		for _, i := range drawn {
			s += in.X[i]
		}
		return Known(s / float64(len(drawn)))
	})
	if err != nil {
		t.Fatal(err)
	}
	se := r.SE().Value
	return object{"expected": object{"se_limit": near{se, se * 3 / math.Sqrt(2*resamples)}}}
}

func solveAdjust(t *testing.T, c *refCase) object {
	var in struct{ P []float64 }
	c.input(t, &in)
	holm, err := Holm(in.P)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{"holm": holm}}
}

func solveFlips(t *testing.T, c *refCase) object {
	var in struct {
		RightRight int `json:"correct_correct"`
		RightWrong int `json:"correct_incorrect"`
		WrongRight int `json:"incorrect_correct"`
		WrongWrong int `json:"incorrect_incorrect"`
	}
	c.input(t, &in)
	right, wrong := in.RightRight+in.RightWrong, in.WrongRight+in.WrongWrong
	overall := NewRate(in.RightWrong+in.WrongRight, right+wrong, 0.95)
	regressive, progressive := NewRate(in.RightWrong, right, 0.95), NewRate(in.WrongRight, wrong, 0.95)
	return object{"expected": object{
		"flip_rate_overall": overall.Share, "flip_overall_wilson": overall.Interval,
		"regressive_rate": regressive.Share, "regressive_wilson": regressive.Interval,
		"progressive_rate": progressive.Share, "progressive_wilson": progressive.Interval,
		"acc_before": NewRate(right, right+wrong, 0.95).Share, "acc_after": NewRate(in.RightRight+in.WrongRight, right+wrong, 0.95).Share,
		"mcnemar": mcNemarBlock(NewMcNemar(in.RightWrong, in.WrongRight)),
	}}
}

// solvePairwise finds the values that the R package pairwiseLLM printed.
func solvePairwise(t *testing.T, c *refCase) object {
	switch {
	case strings.HasSuffix(c.ID, "_bt_data"):
		return c.blocks // the rows themselves, the input of the cases after it
	case strings.HasSuffix(c.ID, "_BradleyTerry2"):
		return solveBradleyTerry2(t, c)
	}
	return object{} // estimators that are not ours
}

// example returns the package's example: 190 comparisons of 20 texts.
func (c *refCase) example(t *testing.T) ([]string, Pairs) {
	t.Helper()
	var ids []string
	var p Pairs
	for _, other := range c.ref.Cases {
		if !strings.HasSuffix(other.ID, "_bt_data") {
			continue
		}
		rows := other.blocks["expected"].([]any)
		for _, row := range rows {
			ids = append(ids, row.(object)["object1"].(string), row.(object)["object2"].(string))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		for _, row := range rows {
			a := slices.Index(ids, row.(object)["object1"].(string))
			b := slices.Index(ids, row.(object)["object2"].(string))
			p.Append(uint16(a), uint16(b), resultOf(row.(object)["result"].(float64)))
		}
	}
	if p.Len() == 0 {
		t.Fatal("no example rows")
	}
	return ids, p
}

func exampleTally(t *testing.T, ids []string, p Pairs) *Tally {
	t.Helper()
	tally := NewTally(len(ids))
	if err := tally.Add(p); err != nil {
		t.Fatal(err)
	}
	return tally
}

// thetaRows lists strengths in the order of the wanted rows.
func thetaRows(c *refCase, ids []string, theta, se func(int) float64) []object {
	var rows []object
	for _, row := range c.blocks["expected"].(object)["theta"].([]any) {
		id := row.(object)["ID"].(string)
		i := slices.Index(ids, id)
		rows = append(rows, object{"ID": id, "theta": theta(i), "se": se(i)})
	}
	return rows
}

func solveBradleyTerry2(t *testing.T, c *refCase) object {
	ids, p := c.example(t)
	fit := mustFit(t, exampleTally(t, ids, p), BTOptions{})
	cov := mustCovariance(t, fit.Covariance)
	return object{"expected": object{
		"theta": thetaRows(c, ids, func(i int) float64 { return fit.Theta[i] - fit.Theta[0] },
			func(i int) float64 { return cov.Difference(i, 0) }),
		"reliability": Undefined("that engine reports none"),
	}}
}
