package stats

import (
	"math"
	"strings"
	"testing"
)

// solvers computes the blocks of a case with this package, by method.
var solvers = map[string]func(*testing.T, *refCase) object{
	"bradley_terry":           solveAgainstReference,
	"psychotools::btmodel":    solvePsychotools,
	"davidson":                solveDavidson,
	"bradley_terry_centered":  solveCentered,
	"bradley_terry_cluster":   solveCentered,
	"bradley_terry_ridge":     solveRidge,
	"win_rate":                solveWinRate,
	"evalica_goldens":         solveEvalica,
	"connectivity":            solveConnectivity,
	"elo":                     solveElo,
	"elo_permuted_mean":       solveEloPermuted,
	"elo_random_order_mean":   solveEloShuffled,
	"cohen_kappa":             solveKappa,
	"fleiss_kappa":            solveFleiss,
	"krippendorff_alpha":      solveKrippendorff,
	"proportion_ci":           solveProportion,
	"binomial_test_two_sided": solveBinomial,
	"mcnemar":                 solveMcNemar,
	"newcombe_paired_diff":    solveNewcombe,
	"paired_clustered":        solvePairedClustered,
	"bootstrap_given_indices": solveBootstrapGiven,
	"bootstrap_mean_se_limit": solveBootstrapLimit,
	"p_adjust":                solveAdjust,
	"flip_rates":              solveFlips,
	"pairwiseLLM":             solvePairwise,
}

func mustFit(t *testing.T, tally *Tally, o BTOptions) *BTFit {
	t.Helper()
	fit, err := FitBT(tally, o)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func mustCovariance(t *testing.T, of func() (*Covariance, error)) *Covariance {
	t.Helper()
	c, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// byName labels values with the items.
func byName(items []string, values []float64) object {
	out := object{}
	for i, v := range values {
		out[items[i]] = v
	}
	return out
}

// relative moves strengths so that one is 0.
func relative(theta []float64, ref int) []float64 {
	out := make([]float64, len(theta))
	for i := range theta {
		out[i] = theta[i] - theta[ref]
	}
	return out
}

func roots(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Sqrt(v)
	}
	return out
}

func solveAgainstReference(t *testing.T, c *refCase) object {
	d := c.ref.Datasets[c.Dataset]
	o := BTOptions{Order: strings.Contains(c.ID, "_order"), Firth: strings.Contains(c.ID, "_firth")}
	fit := mustFit(t, d.tally(t), o)
	cov := mustCovariance(t, fit.Covariance)
	ability := relative(fit.Theta, 0)
	se, coef := object{}, object{}
	var matrix [][]float64
	for i, name := range d.Items {
		se[name] = cov.Difference(i, 0)
		if i == 0 {
			continue
		}
		coef["id"+name] = ability[i]
		row := make([]float64, 0, len(d.Items))
		for j := 1; j < len(d.Items); j++ {
			row = append(row, cov.Against(0, i, j))
		}
		if o.Order {
			row = append(row, cov.OrderAgainst(0, i).Value)
		}
		matrix = append(matrix, row)
	}
	quasi, err := cov.QuasiVariances()
	if err != nil {
		t.Fatal(err)
	}
	good := fit.Goodness()
	got := object{
		"ability": byName(d.Items, ability), "se_vs_ref": se, "coef": coef, "vcov": object{"matrix": matrix},
		"quasi_var": byName(d.Items, quasi), "quasi_se": byName(d.Items, roots(quasi)),
		"deviance": good.Deviance, "df_residual": good.DF, "loglik_binomial": good.BinomialLogLik,
	}
	if o.Order {
		coef["at"] = fit.Order
		last := make([]float64, 0, len(d.Items))
		for i := 1; i < len(d.Items); i++ {
			last = append(last, cov.OrderAgainst(0, i).Value)
		}
		last = append(last, square(cov.OrderSE().Value))
		got["vcov"] = object{"matrix": append(matrix, last)}
		test := fit.OrderTest(cov)
		got["order_effect"] = object{"estimate": test.Estimate, "se": test.SE, "z": test.Z, "p": test.P}
	}
	return object{"expected": got}
}

func solvePsychotools(t *testing.T, c *refCase) object {
	d := c.ref.Datasets[c.Dataset]
	fit := mustFit(t, d.tally(t), BTOptions{})
	cov := mustCovariance(t, fit.Covariance)
	last := len(d.Items) - 1
	coef, se := object{}, object{}
	for i, name := range d.Items {
		coef[name], se[name] = fit.Theta[i]-fit.Theta[last], cov.Difference(i, last)
	}
	return object{"expected": object{"coef": coef, "se": se, "loglik": fit.LogLik}}
}

func solveDavidson(t *testing.T, c *refCase) object {
	d := c.ref.Datasets[c.Dataset]
	fit := mustFit(t, d.tally(t), BTOptions{Ties: Davidson, Order: strings.HasSuffix(c.ID, "_order")})
	cov := mustCovariance(t, fit.Covariance)
	coef, se := byName(d.Items, relative(fit.Theta, 0)), object{}
	for i, name := range d.Items {
		se[name] = cov.Difference(i, 0)
	}
	coef["tie"], se["tie"], coef["at_first"], se["at_first"] = fit.LogNu, cov.LogNuSE(), fit.Order, cov.OrderSE()
	nu := math.Exp(fit.LogNu.Value)
	good := fit.Goodness()
	return object{
		"expected": object{"coef": coef, "se": se, "nu": nu, "deviance": good.Deviance, "df": good.DF},
		"expected_centered": object{
			"theta_centered": fit.Theta, "log_nu": fit.LogNu, "nu": nu, "newman_v": nu / 2,
		},
	}
}

func solveCentered(t *testing.T, c *refCase) object {
	tally := (*Tally)(nil)
	d := c.ref.Datasets[c.Dataset]
	if c.Dataset == "" {
		var in struct {
			WinMatrix [][]float64 `json:"win_matrix"`
		}
		c.input(t, &in)
		tally = matrixTally(t, in.WinMatrix)
	} else {
		tally = d.tally(t)
	}
	fit := mustFit(t, tally, BTOptions{})
	model, robust := mustCovariance(t, fit.Covariance), mustCovariance(t, fit.Sandwich)
	got := object{
		"theta_centered": fit.Theta, "loglik": fit.LogLik,
		"se_centered_model": model.SE(), "se_centered_sandwich_hc0": robust.SE(),
		"se_model": model.SE(), "se_hc0": robust.SE(),
		"se_diff_model": table(model), "se_diff_sandwich": table(robust),
	}
	if c.Method == "bradley_terry_cluster" {
		addClusters(t, d, fit, got)
	}
	out := object{"expected": got}
	if c.blocks["davidson"] != nil {
		ties := mustFit(t, tally, BTOptions{Ties: Davidson})
		out["davidson"] = davidsonBlock(ties)
	}
	return out
}

// davidsonBlock is compared at 1e-4: the reference stopped there.
func davidsonBlock(fit *BTFit) object {
	theta := make([]any, len(fit.Theta))
	for i, v := range fit.Theta {
		theta[i] = near{v, 1e-4}
	}
	return object{
		"theta_centered": theta, "log_nu": near{fit.LogNu.Value, 1e-4},
		"nu": near{math.Exp(fit.LogNu.Value), 1e-4 * max(1, math.Exp(fit.LogNu.Value))},
	}
}

func addClusters(t *testing.T, d dataset, fit *BTFit, got object) {
	t.Helper()
	var prompt []uint32
	for _, row := range d.Comparisons {
		prompt = append(prompt, uint32(row[3]))
	}
	g, err := Group(len(d.Items), d.pairs(), prompt)
	if err != nil {
		t.Fatal(err)
	}
	for name, correction := range map[string]Correction{"se_cluster_cr0": CR0, "se_cluster_cr1": CR1} {
		cov, err := fit.ClusterRobust(g, correction)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = cov.SE()
	}
	got["n_clusters"] = g.Clusters()
}

// table returns the error of every difference.
func table(c *Covariance) [][]float64 {
	out := make([][]float64, c.Items())
	for i := range out {
		out[i] = make([]float64, c.Items())
		for j := range out[i] {
			out[i][j] = c.Difference(i, j)
		}
	}
	return out
}

func solveRidge(t *testing.T, c *refCase) object {
	var p struct{ Lambda float64 }
	c.params(t, &p)
	tally := (*Tally)(nil)
	if c.Dataset == "" {
		var in struct {
			WinMatrix [][]float64 `json:"win_matrix"`
		}
		c.input(t, &in)
		tally = matrixTally(t, in.WinMatrix)
	} else {
		tally = c.ref.Datasets[c.Dataset].tally(t)
	}
	fit := mustFit(t, tally, BTOptions{Ridge: p.Lambda})
	return object{"expected": object{"theta_centered": fit.Theta, "loglik": fit.LogLik}}
}

func solveWinRate(t *testing.T, c *refCase) object {
	rates := c.ref.Datasets[c.Dataset].tally(t).Rates()
	got := object{"average_over_opponents": rates.Average, "overall": rates.Overall, "matrix": any(rates.Matrix)}
	if expected := c.blocks["expected"].(object); expected["matrix"] == nil {
		got["matrix"] = nil // too large to be listed there
	}
	return object{"expected": got}
}

func solveEvalica(t *testing.T, c *refCase) object {
	d := c.ref.Datasets[c.Dataset]
	tally := d.tally(t)
	fit, rates := mustFit(t, tally, BTOptions{}), tally.Rates()
	share, all := make([]float64, len(d.Items)), 0.0
	for i, v := range fit.Theta {
		share[i] = math.Exp(v)
		all += share[i]
	}
	average := object{}
	for i, name := range d.Items {
		share[i] /= all
		average[name] = rates.Average[i]
	}
	elo, err := Elo(len(d.Items), d.pairs(), EloOptions{K: 4, Start: 1000, Scale: 400})
	if err != nil {
		t.Fatal(err)
	}
	return object{"expected": object{
		"bradley_terry": byName(d.Items, share), "average_win_rate": average, "counting": byName(d.Items, rates.Won),
		"elo": byName(d.Items, elo), "newman": newmanBlock(t, c, d, tally),
	}}
}

// newmanBlock holds Davidson's strengths against raw scores, which are free up to a factor and were stopped early.
func newmanBlock(t *testing.T, c *refCase, d dataset, tally *Tally) object {
	t.Helper()
	fit := mustFit(t, tally, BTOptions{Ties: Davidson})
	want := c.blocks["expected"].(object)["newman"].(object)
	shift := 0.0
	for _, v := range want {
		shift += math.Log(v.(float64)) / float64(len(want))
	}
	out := object{}
	for i, name := range d.Items {
		v := math.Exp(fit.Theta[i] + shift)
		out[name] = near{v, 5e-3 * v}
	}
	return out
}

func solveConnectivity(t *testing.T, c *refCase) object {
	var in struct {
		N    int
		Wins [][]float64
	}
	c.input(t, &in)
	tally := NewTally(in.N)
	for _, w := range in.Wins {
		if err := tally.Count(int(w[0]), int(w[1]), FirstWon, w[2]); err != nil {
			t.Fatal(err)
		}
	}
	_, err := FitBT(tally, BTOptions{})
	return object{"expected": object{
		"strongly_connected_components": Components(tally), "finite_mle_exists": err == nil,
	}}
}
