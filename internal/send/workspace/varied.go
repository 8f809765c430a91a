package workspace

import (
	"context"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/results/findings"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
	"assay/internal/send/learned"
	"assay/internal/study/plan"
)

// What is looked at to learn how far answers vary.
const (
	variedRuns     = 3       // the newest runs of a study
	variedRequests = 100_000 // of a run, at most: a plan must not take long
	variedItems    = 10      // fewer give too little evidence of a variance
)

// Varied returns how far the answers of a study varied in its earlier runs, stage by stage; a pilot is one. A run that
// cannot be analysed is skipped.
func (h *Home) Varied(ctx context.Context, want Wanted) (map[string]plan.Varied, error) {
	out := map[string]plan.Varied{}
	for _, name := range []string{want.Input.Study.Study, want.Input.Study.Study + learned.PilotSuffix} {
		runs, err := h.Ledger.Reader.Runs(ctx, name, store.RunOpen, store.RunClosed)
		if err != nil {
			return nil, err
		}
		runs = slices.DeleteFunc(runs, func(r store.Run) bool { return r.Rehearsal != h.Rehearsal || r.Folder != want.folder(h.World) })
		for _, run := range runs[:min(variedRuns, len(runs))] {
			if err := h.varied(ctx, run, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// varied adds the variance in one run to stages that have none yet.
func (h *Home) varied(ctx context.Context, run store.Run, out map[string]plan.Varied) error {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	planned := int64(0)
	for _, l := range lanes {
		planned += l.Planned
	}
	if planned > variedRequests {
		return nil
	}
	found, err := findings.Of(ctx, h.Planner.Results, run, findings.Query{})
	if err != nil {
		return ctx.Err()
	}
	for i := range found.Report.Leaderboards {
		s := &found.Report.Leaderboards[i]
		_, known := out[s.Stage]
		if v, ok := variedIn(s); ok && !known {
			v.Run = run.ID
			out[s.Stage] = v
		}
	}
	return nil
}

// variedIn returns how far answers vary, in the middle of all pairs of lanes.
func variedIn(s *analysis.Leaderboard) (plan.Varied, bool) {
	var variance, information []float64
	out := plan.Varied{Items: s.Clusters, Exact: s.Test == analysis.ExactPairs}
	for _, t := range s.Tests {
		if t.SE.OK && t.SE.Value > 0 && t.Clusters >= variedItems {
			variance = append(variance, t.SE.Value*t.SE.Value*float64(t.Clusters))
			if t.Information.OK {
				information = append(information, t.Information.Value)
			}
		}
	}
	// the rest was all alike: nothing shows how far it could vary. Errors that people's labels make show how many labels there are.
	if len(s.By) > 0 || s.Corrected() || len(variance) == 0 || 2*len(variance) < len(s.Tests) {
		return out, false
	}
	slices.Sort(variance)
	slices.Sort(information)
	if s.What != analysis.WhatStrength {
		out.Variance = variance[len(variance)/2]
		if out.Exact {
			out.Rate = meanOf(s.Places)
		}
	} else if len(information) > 0 {
		out.Information = information[len(information)/2]
	}
	return out, out.Variance > 0 || out.Information > 0
}

// meanOf returns the mean of the values that places have; 0 where none has.
func meanOf(places []analysis.Place) float64 {
	var t stats.Total
	for _, p := range places {
		if p.Value.OK {
			t.Add(p.Value.Value)
		}
	}
	return t.Sum / float64(max(1, t.N))
}
