// Package trend follows a study over its runs: what each lane got in every run, what changed from one run to the next, and whether that is
// the judge's or the model's.
//
// A judge is measured on a gold set: answers that stay the same and are judged in every run (findings.Keeps). Answers and verdicts that a
// run took over from an earlier one are no new measurement.
package trend

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/runs"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
)

// Level is that of all intervals and tests.
const Level = 0.95

// Trend is a study over its runs, the oldest first.
type Trend struct {
	Study     string
	Rehearsal bool
	Runs      []Run
	Stages    []Stage
	Open      int // runs that are not closed, and are left out
	Earlier   int // closed runs before the first one
}

// Run is one run of the study.
type Run struct {
	store.Run
	Cost assay.Cost
}

// Stage holds the findings of a stage in every run. It has as many Points and Judged as there are runs, and one Step less.
type Stage struct {
	Name   string
	What   string // that lanes are ranked by
	Unit   analysis.Unit
	Labels []string // that a rate counts
	Less   bool     // less is better
	Lanes  []string // in the order of their names
	Points [][]Point
	Judged []string // the state of the judge in each run, in words; empty: the run does not have the stage
	Steps  []Step
}

// Point is the result of a lane in a run.
type Point struct {
	Value     stats.Number // not OK: the run does not have the lane, or no number for it
	Interval  stats.Interval
	N         int
	Corrected bool // by people's labels
}

// Runs returns the closed runs of the study of a run in its folder, the oldest first, at most so many; and counts those that are open, and
// those before. Whatever else has the same name lies in another folder.
func Runs(ctx context.Context, r *results.Reader, of store.Run, last int) (closed []store.Run, open, earlier int, err error) {
	all, err := r.Ledger.Runs(ctx, of.Study, store.RunClosed, store.RunOpen)
	for _, run := range all {
		switch {
		case run.Folder != of.Folder:
		case run.State == store.RunOpen:
			open++
		case last > 0 && len(closed) == last:
			earlier++
		default:
			closed = append(closed, run)
		}
	}
	slices.Reverse(closed)
	return closed, open, earlier, err
}

// Of follows the study of a run over its last runs; 0: over all. Stages are those with a primary analysis, else all that rank lanes.
func Of(ctx context.Context, r *results.Reader, of store.Run, last int) (*Trend, error) {
	all, open, earlier, err := Runs(ctx, r, of, last)
	if err != nil {
		return nil, err
	}
	t := &Trend{Study: of.Study, Rehearsal: r.Rehearsal, Open: open, Earlier: earlier}
	boards := make([][]analysis.Leaderboard, len(all))
	for i, run := range all {
		found, err := findings.Of(ctx, r, run, findings.Query{})
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run.ID, err)
		}
		boards[i] = found.Report.Leaderboards
		one := Run{Run: run}
		if one.Cost, err = runs.Spent(ctx, r, run); err != nil {
			return nil, err
		}
		t.Runs = append(t.Runs, one)
	}
	if len(all) > 0 {
		t.Stages = stagesIn(boards)
	}
	for i := range t.Runs[min(1, len(t.Runs)):] {
		if err := t.step(ctx, r, i); err != nil {
			return nil, fmt.Errorf("from run %s to %s: %w", t.Runs[i].ID, t.Runs[i+1].ID, err)
		}
	}
	return t, nil
}

// stagesIn returns the stages of the newest run, with what all runs found in them.
func stagesIn(boards [][]analysis.Leaderboard) []Stage {
	var out []Stage
	newest := boards[len(boards)-1]
	primary := slices.ContainsFunc(newest, func(b analysis.Leaderboard) bool { return b.Primary })
	for i := range newest {
		b := &newest[i]
		if b.Field != analysis.ByLane || len(b.By) > 0 || primary && !b.Primary {
			continue
		}
		s := Stage{Name: b.Stage, What: b.What, Unit: b.Unit, Labels: b.Labels, Less: b.Less}
		for _, of := range boards {
			if k := sameBoard(of, b); k >= 0 {
				for _, p := range of[k].Places {
					if !slices.Contains(s.Lanes, p.Name) {
						s.Lanes = append(s.Lanes, p.Name)
					}
				}
			}
		}
		slices.SortFunc(s.Lanes, analysis.Natural)
		for _, of := range boards {
			s.add(of, b)
		}
		out = append(out, s)
	}
	return out
}

// sameBoard returns the place of the leaderboard with the same numbers in another run; -1: there is none.
func sameBoard(of []analysis.Leaderboard, b *analysis.Leaderboard) int {
	return slices.IndexFunc(of, func(o analysis.Leaderboard) bool {
		return o.Stage == b.Stage && o.Verb == b.Verb && o.What == b.What && o.Field == b.Field && len(o.By) == 0
	})
}

// add enters what a run found.
func (s *Stage) add(of []analysis.Leaderboard, b *analysis.Leaderboard) {
	points, state := make([]Point, len(s.Lanes)), ""
	for i := range points {
		points[i] = Point{Value: stats.Undefined("the run does not have it"), Interval: stats.NoInterval("the run does not have it")}
	}
	if k := sameBoard(of, b); k >= 0 {
		for _, p := range of[k].Places {
			points[slices.Index(s.Lanes, p.Name)] = Point{Value: p.Value, Interval: p.Interval, N: p.N, Corrected: of[k].Corrected()}
		}
		switch {
		case !of[k].Machines:
			state = "people judge"
		case of[k].Checked == nil && of[k].Validated && len(of[k].Judges) == 0:
			state = "a rule judges"
		default:
			state = of[k].Checked.Words()
		}
	}
	s.Points, s.Judged = append(s.Points, points), append(s.Judged, state)
}

// Only leaves one stage; an empty name leaves all.
func (t *Trend) Only(stage string) error {
	var names []string
	for _, s := range t.Stages {
		names = append(names, s.Name)
	}
	if stage == "" {
		return nil
	}
	at := slices.Index(names, stage)
	if at < 0 {
		return results.NewMistake(assay.Choices(stage, names), "--stage: no stage %q ranks lanes in the newest run", stage)
	}
	t.Stages = t.Stages[at : at+1]
	return nil
}

// Low returns the low end of the interval; nil: there is none.
func (p *Point) Low() *float64 { low, _ := p.Interval.OrNil(); return low }

// High returns the high end of the interval; nil: there is none.
func (p *Point) High() *float64 { _, high := p.Interval.OrNil(); return high }
