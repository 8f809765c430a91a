package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/stats"
)

// design is a kind of study whose truth is known.
type design struct {
	name  string
	make  func(r *rand.Rand) trial
	times float64 // studies, as a part of the usual number; 0: 1
	lax   string  // why the intervals of this design may miss their level; empty: they may not
}

// trial is one simulated study.
type trial struct {
	stage analysis.Stage
	spec  analysis.Spec
	rows  []analysis.Row
	truth map[string]float64 // by lane or item
}

// tallied counts over studies what held.
type tallied struct {
	studies                int
	held, values           int // intervals of rates and strengths
	heldApart, differences int // intervals of differences
	claimed                int // studies that claim a difference which is not there, or the wrong way round
	silent                 int // studies without any interval
}

// Shares that a design is refused for, with room for what chance does over the studies of a bench.
const (
	leastHeld = 0.925
	mostFalse = 0.065
)

// coverageBench simulates studies of known truth, has them analysed as `assay analyse` does, and counts intervals that
// hold the truth and studies that claim what is not so. It measures no time; -write FILE writes the table as a page.
func coverageBench(ctx context.Context, b *bench) error {
	studies := b.size(300)
	fmt.Printf("%d studies of each design of answers, %d of each of texts\n", 4*studies, studies)
	page := &strings.Builder{}
	fmt.Fprintf(page,
		"# Calibration\n\nWritten by `go run ./test/bench -write docs/dev/calibration.md coverage`: simulated studies, seeded, whose "+
			"truth is known,\nanalysed as `assay analyse` does; %d of each design of answers, %d of each of texts. "+
			"Intervals are at 95%%; a false claim is a\nstudy in which any two that are equal get different letters, "+
			"or two get them the wrong way round (at most "+
			"5%%).\n\n", 4*studies, studies)
	fmt.Fprintf(page,
		"| design | intervals of rates or strengths held | of differences | studies with a false claim |\n|---|--:|--:|--:|\n")
	fmt.Printf("%-68s %9s %11s %7s\n", "", "held", "differences", "false")
	var notes, bad []string
	for _, d := range append(answerDesigns(), textDesigns()...) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.Contains(d.name, b.design) {
			continue
		}
		n := studies
		if d.times > 0 {
			n = int(float64(studies) * d.times)
		}
		sum, err := d.try(b.seed, n)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		fmt.Printf("%-68s %8.1f%% %10.1f%% %6.1f%%  %d of %d without intervals\n", d.name, sum.rate(), sum.rateApart(), sum.falsely(),
			sum.silent, sum.studies)
		mark := ""
		if d.lax != "" {
			mark = fmt.Sprintf(" [%d]", len(notes)+1)
			notes = append(notes, d.lax)
		} else if min(sum.rate(), sum.rateApart()) < 100*leastHeld || sum.falsely() > 100*mostFalse {
			bad = append(bad, d.name)
		}
		fmt.Fprintf(page, "| %s%s | %.1f%% | %.1f%% | %.1f%% |\n", d.name, mark, sum.rate(), sum.rateApart(), sum.falsely())
	}
	fmt.Fprintln(page)
	for k, note := range notes {
		fmt.Fprintf(page, "[%d] %s\n", k+1, note)
	}
	worse, err := noWorseCoverage(ctx, b, page, studies*10/3)
	if err != nil {
		return err
	}
	again, err := looksCoverage(ctx, b, page, studies*30)
	if err != nil {
		return err
	}
	quotes, err := quoteCoverage(ctx, b, page, studies*10/3)
	if err != nil {
		return err
	}
	bad = slices.Concat(bad, worse, again, quotes)
	if b.write != "" {
		if err := os.WriteFile(b.write, []byte(page.String()), 0o644); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("out of their level: %s", strings.Join(bad, "; "))
	}
	return nil
}

func (t tallied) rate() float64 { return 100 * float64(t.held) / float64(max(1, t.values)) }
func (t tallied) rateApart() float64 {
	return 100 * float64(t.heldApart) / float64(max(1, t.differences))
}
func (t tallied) falsely() float64 { return 100 * float64(t.claimed) / float64(max(1, t.studies)) }

// try simulates and analyses studies of a design. The numbers depend on the seed, the design's name and n alone.
func (d design) try(seed uint64, n int) (tallied, error) {
	parts, err := each(seed, d.name, n, func(r *rand.Rand) (tallied, error) { return d.make(r).score() })
	var sum tallied
	for _, p := range parts {
		sum.add(p)
	}
	return sum, err
}

// each does n trials, with chances that depend on the seed, the name and the number of the trial alone.
func each[T any](seed uint64, name string, n int, do func(r *rand.Rand) (T, error)) ([]T, error) {
	for _, c := range name {
		seed = seed*131 + uint64(c)
	}
	parts, errs := make([]T, n), make([]error, n)
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range n {
		free <- struct{}{}
		group.Go(func() {
			parts[k], errs[k] = do(rand.New(rand.NewPCG(seed, uint64(k))))
			<-free
		})
	}
	group.Wait()
	return parts, errors.Join(errs...)
}

func (t *tallied) add(o tallied) {
	t.studies, t.held, t.values = t.studies+o.studies, t.held+o.held, t.values+o.values
	t.heldApart, t.differences = t.heldApart+o.heldApart, t.differences+o.differences
	t.claimed, t.silent = t.claimed+o.claimed, t.silent+o.silent
}

// score analyses a study and holds what it finds against the truth.
func (t trial) score() (tallied, error) {
	out := tallied{studies: 1}
	found, err := t.report()
	if err != nil {
		return out, err
	}
	for i := range found.Leaderboards {
		t.hold(&out, &found.Leaderboards[i])
	}
	if out.values == 0 {
		out.silent++
	}
	return out, nil
}

// report analyses a study.
func (t trial) report() (*analysis.Report, error) {
	t.spec.Stage = t.stage.Name
	a, err := methods.Open([]analysis.Stage{t.stage}, []analysis.Spec{t.spec}, analysis.Options{Seed: 1, Resamples: 300})
	if err != nil {
		return nil, err
	}
	if err := a.Expect(t.given()); err != nil {
		return nil, err
	}
	if err := a.Read(t.given()); err != nil {
		return nil, err
	}
	return a.Report()
}

// hold counts what a standing says of rates, strengths and differences. Strengths are centred, as the truth is.
func (t trial) hold(out *tallied, s *analysis.Leaderboard) {
	for _, p := range s.Places {
		if p.Interval.OK {
			out.values++
			out.held += count(p.Interval.Contains(t.truth[p.Name]))
		}
	}
	apart, _ := s.Apart()
	wrong := false
	for _, c := range s.Tests {
		d := t.truth[s.Places[c.First].Name] - t.truth[s.Places[c.Second].Name]
		if c.Interval.OK {
			out.differences++
			out.heldApart += count(c.Interval.Contains(d))
		}
		found := s.Places[c.First].Value.Value - s.Places[c.Second].Value.Value
		wrong = wrong || apart[[2]int{c.First, c.Second}] && found*d <= 0
	}
	out.claimed += count(wrong)
}

func (t trial) given() iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		for i := range t.rows {
			if !yield(&t.rows[i], nil) {
				return
			}
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// normal returns the chance that a standard normal lies below x.
func normal(x float64) float64 { return stats.NormalBelow(x) }
