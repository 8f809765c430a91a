package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// baselined is a design of a run that is held against an earlier one on the same items.
type baselined struct {
	name   string
	asked          // its lanes, as they were in the earlier run
	margin float64 // in points
}

func heldDesigns() []baselined {
	draws := func(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }
	return []baselined{
		{"200 items, 50% right, 10 points", asked{items: 200, right: []float64{.5}}, 10},
		{"200 items, 80%, 10 points", asked{items: 200, right: []float64{.8}}, 10},
		{"50 items, 70%, 20 points", asked{items: 50, right: []float64{.7}}, 20},
		{"1,000 items, 80%, 5 points", asked{items: 1000, right: []float64{.8}}, 5},
		{"200 items, 70%, 3 lanes, 10 points", asked{items: 200, right: []float64{.7, .7, .7}}, 10},
		{"100 items, 95%, 5 points", asked{items: 100, right: []float64{.95}}, 5},
		{"100 items, 95%, 7 points", asked{items: 100, right: []float64{.95}}, 7},
		{"60 items, 3 draws, 70%, 10 points", asked{items: 60, right: []float64{.7}, draws: draws(3)}, 10},
		{"40 clusters of 5, 60%, 10 points", asked{items: 200, right: []float64{.6}, clusters: 40}, 10},
	}
}

// outcome is what one run that was held against another shows.
type outcome struct {
	lanes, passed int
	worse         bool
	variance      float64 // of the difference of a cluster, the mean over lanes
	clusters      int
}

// noWorseCoverage simulates runs that are held against an earlier one: how often one that is equal is called worse, how often it passes,
// beside what a plan promises, and how often one passes that is worse by the margin. It returns the designs that are out of their
// level, or more than 5 points off what was promised.
func noWorseCoverage(ctx context.Context, b *bench, page io.Writer, n int) (bad []string, err error) {
	fmt.Fprintf(page, "\n## No worse than an earlier run\n\nAn earlier run and a new one on the same items, %d times each, held against "+
		"a margin (`no-worse`).\nA run that is equal (A/A) must not be called worse in more than 5%% of studies, nor one that is worse by "+
		"the margin\npass.\n\n", n)
	fmt.Fprint(page,
		"| design | equal, called worse | equal, passes | promised by the plan | worse by the margin, passes |\n|---|--:|--:|--:|--:|\n")
	fmt.Printf("%-68s %8s %8s %8s %8s\n", "", "alarms", "passes", "promised", "false")
	for _, d := range heldDesigns() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.Contains(d.name, b.design) {
			continue
		}
		same, err := d.try(b.seed, d.name, n, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		lower, err := d.try(b.seed, d.name+", worse", n, d.margin/100)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		alarms, passes, promised := d.sum(same)
		wrong := 0
		for _, o := range lower {
			wrong += count(o.passed > 0)
		}
		missed := 100 * float64(wrong) / float64(n)
		fmt.Printf("%-68s %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", d.name, alarms, passes, promised, missed)
		fmt.Fprintf(page, "| %s | %.1f%% | %.1f%% | %.1f%% | %.1f%% |\n", d.name, alarms, passes, promised, missed)
		if max(alarms, missed) > 5 || math.Abs(passes-promised) > 5 {
			bad = append(bad, d.name)
		}
	}
	return bad, nil
}

// sum returns the shares of runs that are called worse and of lanes that pass, and the share that a plan would promise.
func (d baselined) sum(all []outcome) (alarms, passes, promised float64) {
	var worse, lanes, passed, clusters int
	var variance float64
	for _, o := range all {
		worse, lanes, passed, clusters = worse+count(o.worse), lanes+o.lanes, passed+o.passed, o.clusters
		variance += o.variance / float64(len(all))
	}
	exact := d.draws == nil && d.clusters == 0
	chance := stats.Paired{Variance: variance, Exact: exact, Rate: d.right[0]}.Keeps(clusters, d.margin/100, 0.05/float64(len(d.right)))
	return 100 * float64(worse) / float64(len(all)), 100 * float64(passed) / float64(lanes), 100 * chance
}

// try simulates so many runs, whose lanes are less often right than in the earlier run by a loss.
func (d baselined) try(seed uint64, name string, n int, loss float64) ([]outcome, error) {
	return each(seed, name, n, func(r *rand.Rand) (outcome, error) {
		var out outcome
		found, err := d.trial(r, loss).report()
		if err != nil {
			return out, err
		}
		for _, f := range found.Tables[0].Findings {
			out.lanes++
			out.clusters = f.Clusters
			out.passed += count(f.Margin.Standing == stats.NoWorse)
			out.worse = out.worse || f.Margin.Standing == stats.Worse
			out.variance += f.SE.Value * f.SE.Value * float64(f.Clusters) / float64(len(d.right))
		}
		return out, nil
	})
}

// trial makes both runs as one with twice the lanes: those of the second half are the earlier run's.
func (d baselined) trial(r *rand.Rand, loss float64) trial {
	both := d.asked
	both.right = nil
	for _, p := range d.right {
		both.right = append(both.right, p-loss)
	}
	both.right = append(both.right, d.right...)
	t := both.make(r)
	t.spec = analysis.Spec{Method: analysis.NoWorse, Settings: analysis.Settings{Margin: d.margin, Baseline: "earlier"}}
	was := map[string]string{}
	for i := range d.right {
		was[laneName(len(d.right)+i)] = laneName(i)
	}
	for i := range t.rows {
		if lane, ok := was[t.rows[i].Lane]; ok {
			t.rows[i].Lane, t.rows[i].Baseline = lane, "earlier"
		}
	}
	return t
}
