package stats

import (
	"encoding/json"
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
	runs, err := EloOrders(len(in.Items), in.pairs(), o, in.Permutations)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{"mean": runs.Mean, "sd_sample": runs.SD}}
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
	a, err := Agree(in.Rater1, in.Rater2, in.Categories)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{
		"table": a.Table, "n": a.N, "po": a.Observed, "pe": a.Chance, "kappa": a.Kappa, "se_kappa": a.SE,
		"se_kappa0": a.SENull, "gwet_ac1": a.AC1, "scott_pi": a.ScottPi, "pabak": a.PABAK,
		"kappa_linear": a.Linear, "kappa_quadratic": a.Quadratic,
	}}
}

func solveFleiss(t *testing.T, c *refCase) object {
	var in struct{ Counts [][]int }
	c.input(t, &in)
	kappa, err := FleissKappa(in.Counts)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{"kappa": kappa}}
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
		alpha, err := KrippendorffAlpha(ratings, scale)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = alpha
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
		"wilson_cc":       WilsonCorrected(in.K, in.N, in.Conf),
		"clopper_pearson": ClopperPearson(in.K, in.N, in.Conf),
		"jeffreys":        Jeffreys(in.K, in.N, in.Conf),
		"agresti_coull":   AgrestiCoull(in.K, in.N, in.Conf),
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

func solveNewcombe(t *testing.T, c *refCase) object {
	var in struct{ Table []int }
	c.input(t, &in)
	d := PairTable{Both: in.Table[0], OnlyFirst: in.Table[1], OnlySecond: in.Table[2], Neither: in.Table[3]}.Difference(0.95)
	return object{"expected": object{
		"diff": d.Difference, "lo": d.Interval.Low, "hi": d.Interval.High, "wald_se": d.SE,
	}}
}

func solvePairedClustered(t *testing.T, c *refCase) object {
	var in struct {
		Diff    []float64
		Cluster []int
	}
	c.input(t, &in)
	m, err := MeanByCluster(in.Diff, in.Cluster, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{
		"n": m.N, "mean": m.Mean, "n_clusters": m.Clusters,
		"se_iid": m.SEIID, "se_cluster_cr0": m.SE0, "se_cluster_cr1": m.SE,
		"ci95_cr0": NormalInterval(m.Mean.Value, m.SE0.Value, 0.95), "z": wald(m.Mean, m.SE0).Z,
	}}
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
	r, err := BootstrapMean(in.X, nil, resamples, 1)
	if err != nil {
		t.Fatal(err)
	}
	se := r.SE().Value
	return object{"expected": object{"se_limit": near{se, se * 3 / math.Sqrt(2*resamples)}}}
}

func solveAdjust(t *testing.T, c *refCase) object {
	var in struct{ P []float64 }
	c.input(t, &in)
	got := object{}
	for name, adjust := range map[string]func([]float64) ([]float64, error){
		"holm": Holm, "bh": BenjaminiHochberg, "bonferroni": Bonferroni,
	} {
		p, err := adjust(in.P)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = p
	}
	return object{"expected": got}
}

func solveFlips(t *testing.T, c *refCase) object {
	var in struct {
		RightRight int `json:"correct_correct"`
		RightWrong int `json:"correct_incorrect"`
		WrongRight int `json:"incorrect_correct"`
		WrongWrong int `json:"incorrect_incorrect"`
	}
	c.input(t, &in)
	f := Moves{in.RightRight, in.RightWrong, in.WrongRight, in.WrongWrong}.Flips(0.95)
	return object{"expected": object{
		"flip_rate_overall": f.Overall.Share, "flip_overall_wilson": f.Overall.Interval,
		"regressive_rate": f.Regressive.Share, "regressive_wilson": f.Regressive.Interval,
		"progressive_rate": f.Progressive.Share, "progressive_wilson": f.Progressive.Interval,
		"acc_before": f.Before.Share, "acc_after": f.After.Share, "mcnemar": mcNemarBlock(f.Test),
	}}
}

// solvePairwise finds the values that the R package pairwiseLLM printed.
func solvePairwise(t *testing.T, c *refCase) object {
	switch {
	case strings.HasSuffix(c.ID, "_bt_data"):
		return c.blocks // the rows themselves, the input of the cases after it
	case strings.HasSuffix(c.ID, "_bt_sirt"):
		return solveSirt(t, c)
	case strings.HasSuffix(c.ID, "_BradleyTerry2"):
		return solveBradleyTerry2(t, c)
	case strings.Contains(c.ID, "_elochoice_"):
		return solveEloChoice(t, c)
	}
	return solveReverse(t, c)
}

// example is the package's example: 190 comparisons of 20 texts.
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

func solveSirt(t *testing.T, c *refCase) object {
	ids, p := c.example(t)
	fit, err := FitSirt(exampleTally(t, ids, p), DefaultSirt())
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{
		"theta": thetaRows(c, ids, func(i int) float64 { return fit.Theta[i] }, func(i int) float64 { return fit.SE[i] }),
		"iter":  fit.Iterations, "reliability": fit.Reliability,
		"pars": []object{
			{"est": fit.Tie, "se": near{fit.TieSE.Value, 1e-6 * fit.TieSE.Value}}, {"est": fit.Order, "se": fit.OrderSE},
		},
	}}
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

func solveEloChoice(t *testing.T, c *refCase) object {
	const manyRuns = 500
	ids, p := c.example(t)
	if strings.Contains(c.ID, "run1") {
		one, err := EloChoice(len(ids), p, DefaultEloChoice(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		return object{"expected": object{
			"ratings":     byName(ids, one.Mean),
			"reliability": object{"upset": one.Upset, "upset.wgt": one.UpsetWeighted, "totIA": one.Decided},
		}}
	}
	// The shuffles are R's: means within five of their errors, spreads likewise.
	many, err := EloChoice(len(ids), p, DefaultEloChoice(), manyRuns, 1)
	if err != nil {
		t.Fatal(err)
	}
	ratings, sd := object{}, object{}
	for i, id := range ids {
		s := many.SD[i].Value
		ratings[id] = near{many.Mean[i], 5 * s * math.Sqrt(2./manyRuns)}
		sd[id] = near{s, 5 * s * math.Sqrt(1./manyRuns)}
	}
	return object{"expected": object{
		"ratings": ratings, "sd": sd, "upset": near{many.Upset.Value, 0.01}, "upset_wgt": near{many.UpsetWeighted.Value, 0.01},
	}}
}

func solveReverse(t *testing.T, c *refCase) object {
	expected := c.blocks["expected"].(object)
	consistency, err := CompareReversed(readVotes(t, expected["main"]), readVotes(t, expected["reverse"]))
	if err != nil {
		t.Fatal(err)
	}
	bias, err := consistency.Bias(1000, 123)
	if err != nil {
		t.Fatal(err)
	}
	var details []object
	for _, d := range consistency.Details {
		details = append(details, object{
			"key": d.Key, "is_consistent": d.Consistent,
			"better_id_main": d.Main.Winner, "ID1_main": d.Main.First, "ID2_main": d.Main.Second,
			"n_main_votes": d.Main.Votes, "n_main_A": d.Main.FirstVotes, "n_main_B": d.Main.SecondVotes, "is_main_tie": false,
			"better_id_rev": d.Reverse.Winner, "ID1_rev": d.Reverse.First, "ID2_rev": d.Reverse.Second,
			"n_rev_votes": d.Reverse.Votes, "n_rev_A": d.Reverse.FirstVotes, "n_rev_B": d.Reverse.SecondVotes, "is_rev_tie": false,
		})
	}
	const drawn = 0.03 // the resamples are R's
	interval := bias.Consistency.Interval(0.95)
	return object{"expected": object{
		"consistency": object{
			"n_pairs": consistency.Pairs, "n_consistent": consistency.Consistent, "prop_consistent": consistency.Share,
		},
		"details": details,
		"bias": object{
			"n_pairs": consistency.Pairs, "prop_consistent": consistency.Share,
			"boot_mean": near{bias.Consistency.Mean().Value, drawn},
			"boot_lwr":  near{interval.Low, drawn}, "boot_upr": near{interval.High, drawn},
			"p_sample1_main": bias.MainTest, "p_sample1_rev": bias.ReverseTest, "p_sample1_overall": bias.PooledTest,
			"total_pos1_wins": bias.FirstWins, "total_comparisons": bias.Comparisons,
			"n_inconsistent": bias.Inconsistent, "n_inconsistent_pos1_bias": bias.FirstWonTwice,
			"n_inconsistent_pos2_bias": bias.SecondWonTwice,
		},
	}}
}

func readVotes(t *testing.T, rows any) []Vote {
	t.Helper()
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	var read []struct {
		ID1, ID2 string
		Better   *string `json:"better_id"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	var votes []Vote
	for _, r := range read {
		v := Vote{First: r.ID1, Second: r.ID2}
		if r.Better != nil {
			v.Winner = *r.Better
		}
		votes = append(votes, v)
	}
	return votes
}
