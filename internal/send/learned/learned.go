// Package learned finds in a ledger what answers took, so that estimates and reserves go by it and not by guesses.
package learned

import (
	"context"
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study/plan"
)

// PilotSuffix marks the runs of pilots, so that they are not taken for runs of the study.
const PilotSuffix = ".pilot"

// Book holds what answers took, for the lanes of one study.
type Book struct {
	run    int64 // 0: none is meant
	study  string
	reader *read.Reader
	rows   []store.Took
}

// Open reads what answers of some models took, for a run, or for a study that has none yet.
func Open(ctx context.Context, r *read.Reader, run store.Run, models []string) (*Book, error) {
	rows, err := r.TookAll(ctx, run.Rehearsal, models)
	return &Book{run: run.No, study: run.Study, reader: r, rows: rows}, err
}

// Models returns those of some lanes.
func Models[L any](lanes []L, of func(L) string) []string {
	seen := map[string]bool{}
	var out []string
	for _, l := range lanes {
		if m := of(l); !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// Before returns what answers took when the book was opened.
func (b *Book) Before(stage string, turn int, judged bool, lane assay.Lane) plan.Observed {
	for _, from := range []plan.Source{plan.FromRun, plan.FromEarlier, plan.FromPilot, plan.FromModel} {
		var sum, same, here sums
		for _, t := range b.rows {
			if b.source(t, stage, lane) != from || t.Judged != judged || !alike(t, lane) {
				continue
			}
			if sum.add(t); t.Turn == turn {
				same.add(t)
			}
			if b.run != 0 && t.Run == b.run && t.Stage == stage {
				here.add(t)
			}
		}
		if here.n > 0 { // other lanes that are asked the same
			sum = here
		}
		if sum.n > 0 {
			o := sum.observed(from)
			if from != plan.FromModel && same.n > 0 {
				exact := same.observed(from)
				o.Input, o.Mean, o.Visible = float64(same.input)/float64(same.n), exact.Mean, exact.Visible
			}
			return o
		}
	}
	return plan.Observed{}
}

// Now returns what answers of a lane in a stage took until now: its own in the run, else those before it or of its kind.
func (b *Book) Now(ctx context.Context, stage string, judged bool, lane assay.Lane) (plan.Observed, error) {
	if o, err := InRun(ctx, b.reader, b.run, stage, lane.Name); o.N > 0 || err != nil {
		return o, err
	}
	now, err := b.reader.Took(ctx, b.run, "", "")
	if err != nil {
		return plan.Observed{}, err
	}
	for _, t := range b.rows {
		if t.Run != b.run {
			now = append(now, t)
		}
	}
	current := *b
	current.rows = now
	return current.Before(stage, 1, judged, lane), nil
}

// Kind returns what lanes have in common whose answers are expected to be as long: model, and how much it thinks.
func Kind(lane assay.Lane) string {
	return fmt.Sprintf("%s/%s %s %v", lane.Provider, lane.Model, lane.Params.Effort, lane.Params.Thinking)
}

// InRun returns what answers of a lane in a stage of a run took until now.
func InRun(ctx context.Context, r *read.Reader, run int64, stage, lane string) (plan.Observed, error) {
	rows, err := r.Took(ctx, run, stage, lane)
	var sum sums
	for _, t := range rows {
		sum.add(t)
	}
	if sum.n == 0 {
		return plan.Observed{}, err
	}
	return sum.observed(plan.FromRun), nil
}

// source returns what a row is to a lane in a stage; empty: nothing.
func (b *Book) source(t store.Took, stage string, lane assay.Lane) plan.Source {
	own := t.Stage == stage && t.Lane == lane.Name
	switch {
	case t.Provider != lane.Provider || t.Model != lane.Model:
		return ""
	case b.run != 0 && t.Run == b.run && own:
		return plan.FromRun
	case t.Study == b.study && own:
		return plan.FromEarlier
	case t.Study == b.study+PilotSuffix && own:
		return plan.FromPilot
	}
	return plan.FromModel
}

// alike reports whether a lane's answers would be as long: it thinks as much, and the others were not held short.
func alike(t store.Took, lane assay.Lane) bool {
	var p assay.Params
	if t.Params != "" && json.Unmarshal([]byte(t.Params), &p) != nil {
		return false
	}
	if p.Effort != lane.Params.Effort || p.Thinking != lane.Params.Thinking {
		return false
	}
	short := p.MaxTokens > 0 && p.MaxTokens != lane.Params.MaxTokens && float64(t.Output) > 0.7*float64(p.MaxTokens)*float64(t.Answers)
	return !short
}

type sums struct{ n, input, output, thoughts, bytes, counted int64 }

func (s *sums) add(t store.Took) {
	s.n, s.input, s.output = s.n+t.Answers, s.input+t.Input, s.output+t.Output
	s.thoughts, s.bytes, s.counted = s.thoughts+t.Reasoning, s.bytes+t.Bytes, s.counted+t.Counted
}

func (s *sums) observed(from plan.Source) plan.Observed {
	n := float64(s.n)
	o := plan.Observed{N: s.n, Mean: float64(s.output) / n, Visible: float64(s.output-s.thoughts) / n, From: from}
	if s.bytes > 0 {
		o.PerByte = float64(s.counted) / float64(s.bytes)
	}
	return o
}
