package main

import (
	"context"
	"fmt"
	"math"

	"assay/internal/simulator/minds"
	"assay/internal/study/adaptive"
	"assay/test/trials"
)

// settleBench tries the rule that buys comparisons on simulated studies: false claims and intervals that hold where lanes are
// equal or nearly so, and what it saves against comparing all pairs evenly where they are apart. It measures no time.
func settleBench(ctx context.Context, b *bench) error {
	studies := b.size(2000)
	fmt.Printf("%d studies each; false: with any claim that is not so (at most 5%%); hold: intervals of differences at the end (at "+
		"least 95%%)\n", studies)
	fmt.Printf("%-50s %7s %7s %7s %7s %7s\n", "", "false", "hold", "spent", "naive", "hold")
	for _, c := range equalOrNearly() {
		if err := ctx.Err(); err != nil {
			return err
		}
		plan := adaptive.Plan{Rounds: max(adaptive.Rounds, c.looks), Budget: c.budget, Alpha: adaptive.Alpha, Futility: adaptive.Futility,
			Goal: c.goal}
		ours, err := trials.Many(c.Setting, plan, trials.Planned, studies, 1)
		if err != nil {
			return err
		}
		naive, err := trials.Many(c.Setting, plan, trials.Naive, studies, 1)
		if err != nil {
			return err
		}
		fmt.Printf("%-50s %6.1f%% %6.1f%% %7.0f %6.1f%% %7s\n", c.Name, 100*ours.Share(ours.False), 100*ours.Cover(), ours.MeanSpent(),
			100*naive.Share(naive.False), held(naive))
		if ours.Share(ours.False) > 0.05 || ours.Cover() < 0.95 {
			return fmt.Errorf("%s: %d of %d studies claim what is not so, %.1f%% of intervals hold", c.Name, ours.False, studies,
				100*ours.Cover())
		}
	}
	if err := settled(ctx, studies); err != nil {
		return err
	}
	if err := savings(ctx, max(200, studies/4)); err != nil {
		return err
	}
	if err := rehearsed(ctx, max(200, studies/4)); err != nil {
		return err
	}
	if err := labels(ctx, max(200, studies/4)); err != nil {
		return err
	}
	return quotes(ctx, studies)
}

// settled buys a quote for two neighbours that a study did not resolve, and looks once more: at most 6% of studies may then have made
// any claim that is not so.
func settled(ctx context.Context, studies int) error {
	fmt.Printf("\nafter the last look one open pair of neighbours is settled (false: at most 6%%)\n%-50s %7s %7s %7s\n", "", "false",
		"hold", "spent")
	for _, c := range equalOrNearly() {
		once := c.Name == "4 equal" || c.Name == "8 equal"
		if err := ctx.Err(); err != nil || !once && c.Name != "A against B, equal, 5 looks" && c.Name != "8: two tied fours, 0.5 apart" {
			if err != nil {
				return err
			}
			continue
		}
		for _, rounds := range []int{adaptive.Rounds, 1} {
			if rounds == 1 && !once {
				continue
			}
			c.Settles = true
			plan := adaptive.Plan{Rounds: rounds, Budget: c.budget, Alpha: adaptive.Alpha, Futility: adaptive.Futility, Goal: c.goal}
			sum, err := trials.Many(c.Setting, plan, trials.Planned, studies, 6)
			if err != nil {
				return err
			}
			fmt.Printf("%-50s %6.1f%% %6.1f%% %7.0f\n", fmt.Sprintf("%s, %d rounds", c.Name, rounds), 100*sum.Share(sum.False),
				100*sum.Cover(), sum.MeanSpent())
			if sum.Share(sum.False) > 0.06 || sum.Cover() < 0.95 {
				return fmt.Errorf("%s, settled: %d of %d studies claim what is not so, %.1f%% of intervals hold", c.Name, sum.False,
					studies, 100*sum.Cover())
			}
		}
	}
	return nil
}

// rehearsed has the simulator's judges compare answers as its models write them, in a rehearsal without requests: claims that are not so
// among equals, and what is saved where lanes are apart.
func rehearsed(ctx context.Context, studies int) error {
	judges, spreadOut := minds.DefaultJudges(), minds.Writer{}.Truth().Spread
	of := trials.Setting{Theta: make([]float64, 8), Items: 400, Ties: 2 * judges.Ties / (1 - judges.Ties), Order: judges.PositionBias,
		Uneven: spreadOut / judges.Noise}
	plan := adaptive.Plan{Rounds: adaptive.Rounds, Budget: 6000, Alpha: adaptive.Alpha, Futility: adaptive.Futility}
	fmt.Printf("\nthe simulator's models and judges, %d lucks each\n", studies)
	for _, goal := range []adaptive.Goal{{}, {Top: 3}} {
		plan.Goal = goal
		sum, err := trials.Many(of, plan, trials.Planned, studies, 7)
		if err != nil {
			return err
		}
		fmt.Printf("8 equal, %-24s %5.1f%% false, %5.1f%% hold\n", map[int]string{0: "the whole ranking:", 3: "the best three:"}[goal.Top],
			100*sum.Share(sum.False), 100*sum.Cover())
		if sum.Share(sum.False) > 0.05 || sum.Cover() < 0.95 {
			return fmt.Errorf("rehearsed, 8 equal: %d of %d studies claim what is not so, %.1f%% of intervals hold", sum.False, studies,
				100*sum.Cover())
		}
	}
	// The luck of answers takes from what a difference in quality shows: so many logits of quality are 0.4 of strength.
	of.Theta, of.Items = spread(8, 0.4*math.Sqrt(1+0.346*2*of.Uneven*of.Uneven)), 3000
	return saved(ctx, of, studies)
}

// held returns how many intervals hold; none may have been given.
func held(s trials.Sum) string {
	if s.Between == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*s.Cover())
}

// trialSetting is a setting with what its studies may spend.
type trialSetting struct {
	trials.Setting
	budget int
	looks  int // 0: as usual
	goal   adaptive.Goal
}

func equalOrNearly() []trialSetting {
	of := func(name string, budget, items int, theta ...float64) trialSetting {
		return trialSetting{Setting: trials.Setting{Name: name, Theta: theta, Items: items, Ties: 0.5, Order: 0.2, Alike: 0.4},
			budget: budget}
	}
	equal := func(n int) []float64 { return make([]float64, n) }
	fours := []float64{0, 0, 0, 0, -0.5, -0.5, -0.5, -0.5}
	hard := of("8: two tied fours, many ties, strong order effect", 6000, 150, fours...)
	hard.Ties, hard.Order, hard.Alike, hard.Both = 2, 1, 0.8, true
	few := of("4 equal, 40 items, both orders", 480, 40, equal(4)...)
	few.Alike, few.Both = 0.8, true
	plain := of("8: two tied fours, no ties, no order effect", 6000, 400, fours...)
	plain.Ties, plain.Order, plain.Alike = 0, 0, 0
	top := of("best 3 of 8: two tied fours, 0.5 apart", 6000, 400, fours...)
	top.goal.Top = 3
	often := of("A against B, equal, 10 looks", 800, 400, equal(2)...)
	often.looks = 10
	texts := trialSetting{Setting: trials.Setting{Name: "20 texts in ties of four, each two meet twice", Theta: tied(20, 4, 0.6), Ties: 0.5,
		Order: 0.2, Alike: 0.3, Twice: true}, budget: 380}
	return []trialSetting{
		of("4 equal", 2400, 400, equal(4)...),
		of("4 close", 2400, 400, 0, 0, -0.2, -0.4),
		of("4 spread by 0.5", 2400, 400, spread(4, 0.5)...),
		few,
		of("8 equal", 6000, 400, equal(8)...),
		of("8: four tied twos, 0.3 apart", 6000, 400, 0, 0, -0.3, -0.3, -0.6, -0.6, -0.9, -0.9),
		of("8: two tied fours, 0.5 apart", 6000, 400, fours...),
		plain, hard,
		of("8 spread by 0.4", 6000, 1000, spread(8, 0.4)...),
		of("20 equal", 10000, 400, equal(20)...),
		of("20: five tied fours, 0.4 apart", 10000, 400, tied(20, 4, 0.4)...),
		of("20 spread by 0.3", 10000, 400, spread(20, 0.3)...),
		of("A against B, equal, 5 looks", 800, 400, equal(2)...),
		often, top, texts,
	}
}

// tied returns so many strengths, each so many of them equal, and each group so much below the one before.
func tied(n, each int, by float64) []float64 {
	theta := make([]float64, n)
	for i := range theta {
		theta[i] = -by * float64(i/each)
	}
	return theta
}

// labels has people compare pairs of lanes, all alike or those that are not clear yet, and looks once at the end.
func labels(ctx context.Context, studies int) error {
	fmt.Printf("\nlabels of people, one look at the end with plain 95%% intervals, %d studies each\n%-48s %7s %7s %7s\n", studies, "",
		"false", "hold", "known")
	for _, c := range []struct {
		name   string
		theta  []float64
		labels int
	}{
		{"8 equal, 600 labels", make([]float64, 8), 600},
		{"8: two tied fours, 1.5 apart, 1,500 labels", tied(8, 4, 1.5), 1500},
		{"8 spread by 0.4, 1,500 labels", spread(8, 0.4), 1500},
	} {
		for _, doubt := range []bool{false, true} {
			if err := ctx.Err(); err != nil {
				return err
			}
			sum, err := trials.Labels(trials.Setting{Theta: c.theta, Items: 400, Ties: 0.5, Order: 0.2, Alike: 0.4}, c.labels,
				doubt, studies, 5)
			if err != nil {
				return err
			}
			name := c.name + ", " + map[bool]string{false: "balanced", true: "uncertain"}[doubt]
			fmt.Printf("%-48s %6.1f%% %6.1f%% %7.1f\n", name, 100*sum.Share(sum.False), 100*sum.Cover(),
				float64(sum.Known)/float64(studies))
			if off := 3 * math.Sqrt(0.05*0.95/float64(studies)); sum.Share(sum.False) > 0.05+off || sum.Cover() < 0.935 {
				return fmt.Errorf("%s: %d of %d studies claim what is not so, %.1f%% of intervals hold", name, sum.False, studies,
					100*sum.Cover())
			}
		}
	}
	return nil
}

// spread returns so many strengths, each so much below the one before.
func spread(n int, by float64) []float64 {
	theta := make([]float64, n)
	for i := range theta {
		theta[i] = -by * float64(i)
	}
	return theta
}

// savings compares what reaching a goal takes with what it takes when all pairs are compared evenly, with the same claims.
func savings(ctx context.Context, studies int) error {
	return saved(ctx, trials.Setting{Theta: spread(8, 0.4), Items: 3000, Ties: 0.5, Order: 0.2, Alike: 0.4}, studies)
}

func saved(ctx context.Context, lanes trials.Setting, studies int) error {
	fmt.Printf("\n8 lanes 0.4 apart, %d studies each\n%-24s %10s %10s %8s\n", studies, "", "evenly", "planned", "of it")
	for _, c := range []struct {
		name string
		goal adaptive.Goal
		most float64
	}{
		{"the best three", adaptive.Goal{Top: 3}, 0.60},
		{"the whole ranking", adaptive.Goal{}, 0.75},
	} {
		plan := adaptive.Plan{Rounds: 8, Budget: 16000, Alpha: adaptive.Alpha, Goal: c.goal}
		var spent []float64
		for _, rule := range []trials.Rule{trials.Evenly, trials.Planned} {
			if err := ctx.Err(); err != nil {
				return err
			}
			sum, err := trials.Many(lanes, plan, rule, studies, 2)
			if err != nil {
				return err
			}
			if sum.Reached < studies*9/10 {
				return fmt.Errorf("%s, %s: only %d of %d studies got there", c.name, rule, sum.Reached, studies)
			}
			if sum.Share(sum.False) > 0.05 {
				return fmt.Errorf("%s, %s: %d of %d studies claim what is not so", c.name, rule, sum.False, studies)
			}
			spent = append(spent, sum.MeanSpent())
		}
		part := spent[1] / spent[0]
		fmt.Printf("%-24s %10.0f %10.0f %7.0f%% (at most %.0f%%)\n", c.name, spent[0], spent[1], 100*part, 100*c.most)
		if part > c.most {
			return fmt.Errorf("%s takes %.0f%% of comparing all evenly", c.name, 100*part)
		}
	}
	return nil
}

// quotes buys quotes that are to tell two neighbours apart with a chance of 80%, and counts how often that was enough.
func quotes(ctx context.Context, studies int) error {
	lanes := trials.Setting{Items: 2500, Ties: 0.5, Order: 0.2, Alike: 0.4}
	fmt.Printf("\nquotes of 80%% for two neighbours of 8, %d studies each: how often they were enough (70 to 90%%)\n", studies)
	for _, deviation := range []float64{0.2, 0.5, 1} {
		for _, open := range []int{1, 28} {
			if err := ctx.Err(); err != nil {
				return err
			}
			many := studies
			if deviation == 0.2 { // few of them have a quote that anyone would pay
				many *= open
			}
			got, err := trials.Quotes(lanes, deviation, open, 0.8, many, 3)
			if err != nil {
				return err
			}
			share := float64(got.Settled) / float64(max(1, got.Bought))
			fmt.Printf("strengths with a deviation of %.1f, one of %2d pairs: %4d bought, %.1f%%\n", deviation, open, got.Bought, 100*share)
			if off := 3 * math.Sqrt(0.16/float64(max(1, got.Bought))); got.Bought >= 100 && (share < 0.70-off || share > 0.90+off) {
				return fmt.Errorf("quotes of 80%% come true in %.1f%% of %d studies", 100*share, got.Bought)
			}
		}
	}
	return nil
}
