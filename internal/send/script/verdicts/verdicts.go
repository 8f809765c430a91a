// Package verdicts writes the verdicts of a run: what judges replied, what rules and programs decide, what people and programs gave in
// earlier runs, and, when nothing more can come, why there is none.
package verdicts

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/judge/program"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/script/again"
	"assay/internal/send/script/answers"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/script/stages"
)

// Parts are the values that verdicts are made from.
type Parts struct {
	Run        store.Run
	Settings   snapshot.Settings
	Stages     *stages.Stages
	Conditions *conditions.Conditions
	Answers    *answers.Reader
	Snapshots  *snapshot.Store
	Programs   *program.Runner // runs the programs of rubrics; nil: programs cannot judge here
}

// Verdicts are the verdicts of a run as this process has written them. They are safe for concurrent use.
type Verdicts struct {
	Parts
	reader *read.Reader

	mu       sync.Mutex
	absorbed map[int64]bool  // segments whose answers were read
	spared   map[string]bool // stages that ask, whose conditions are all decided
	closedAt int             // how many orders there were when stages were closed
	donors   []*donor        // earlier runs that it takes over from, once they are read
}

// New returns the verdicts of a run, none of which are read yet.
func New(p Parts) *Verdicts {
	return &Verdicts{Parts: p, reader: p.Snapshots.Reader, absorbed: map[int64]bool{}, spared: map[string]bool{}}
}

// Absorb reads the newest answers and writes the verdicts they make possible: those of judges, rules and programs. Every segment is
// read once a process; a verdict that is there already stays as it is.
func (v *Verdicts) Absorb(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := conditions.Refresh(ctx, v.reader, v.Run.No, v.Stages); err != nil {
		return err
	}
	settled, err := v.reader.Segments(ctx, v.Run.No, store.Settled)
	if err != nil {
		return err
	}
	news := map[string]bool{}
	for _, g := range settled {
		if v.absorbed[g.No] {
			continue
		}
		if err := v.absorb(ctx, g); err != nil {
			return err
		}
		v.absorbed[g.No], news[g.Stage] = true, true
	}
	if len(news) > 0 || v.donors == nil {
		if err := v.takeLabels(ctx); err != nil {
			return err
		}
	}
	v.Conditions.ReopenAfter(news)
	return nil
}

func (v *Verdicts) absorb(ctx context.Context, g store.Segment) error {
	w := &writer{Verdicts: v, ctx: ctx}
	if source, ok := v.Stages.Asking(g.Stage); ok {
		return w.read(source, g)
	}
	rec, ok := v.Stages.Judging(g.Stage)
	if !ok {
		return errors.New("answers of a stage that was never asked")
	}
	for a, err := range v.reader.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return err
		}
		// What may still be asked again has no verdict yet.
		if !a.Ended || !a.Outcome.Ending.Stands() && a.Outcome.Ending != assay.Empty {
			continue
		}
		if a, err = v.Answers.Whole(ctx, a); err != nil {
			return err
		}
		if err := w.judged(rec, a); err != nil {
			return err
		}
	}
	return w.flush()
}

// writer writes verdicts a block at a time.
type writer struct {
	*Verdicts
	ctx    context.Context
	block  []store.Verdict
	second []store.Verdict // of judges that were asked once more
	final  bool            // nothing more can come: what has no answer is missing
}

const verdictBlock = 500

func (w *writer) add(v store.Verdict, given assay.Verdict) error {
	w.block = append(w.block, w.filled(v, given))
	if len(w.block) < verdictBlock {
		return nil
	}
	return w.flush()
}

func (w *writer) filled(v store.Verdict, given assay.Verdict) store.Verdict {
	v.Run = w.Run.No
	v.State, v.Label, v.Score, v.Reason = given.State, given.Label, given.Score, cmp.Or(given.Why, given.Explanation)
	v.Fields = string(given.Fields)
	if v.Fields == "" {
		v.Fields = "{}"
	}
	v.Given = w.Run.Created
	return v
}

func (w *writer) flush() error {
	if len(w.block) > 0 {
		if _, err := w.Snapshots.Runs.AddVerdicts(w.ctx, w.block); err != nil {
			return err
		}
		w.block = w.block[:0]
	}
	if len(w.second) > 0 {
		if err := w.Snapshots.Runs.SecondVerdicts(w.ctx, w.second); err != nil {
			return err
		}
		w.second = w.second[:0]
	}
	return nil
}

// judged reads what a judge given. A further try that brought nothing leaves the verdict before it as it is.
func (w *writer) judged(rec stages.Judging, a store.Answer) error {
	v, err := rec.Frame(a.At)
	if err != nil {
		return err
	}
	v.Segment, v.Ord = a.Segment, a.Ord
	given := judge.Read(rec.By().Rubric, a.Outcome)
	if a.At.Again == again.FirstAsked {
		return w.add(v, given)
	}
	v.Again, v.By = a.At.Again, a.At.By
	if a.Outcome.Ending.Stands() {
		w.second = append(w.second, w.filled(v, given))
	}
	return nil
}

// read has the answers of a segment judged by every stage that needs no model for it.
func (w *writer) read(source *stages.Asking, g store.Segment) error {
	for _, j := range w.Stages.Readers(g.Stage, g.Lane, g.Turn) {
		stage := j.Stage()
		if !j.By().NeedsNoModel() || !w.Settings.Wants(stage.Name) {
			continue
		}
		var block []stages.Wanted
		for a, err := range w.reader.SegmentAnswers(w.ctx, g.No) {
			if err != nil {
				return err
			}
			if !a.Ended || !a.Outcome.Ending.Stands() {
				continue
			}
			it, err := w.reader.Item(w.ctx, w.Run.No, source.Items(), a.At.Item)
			if err != nil {
				return err
			}
			if !stages.Keeps(stage, it) {
				continue
			}
			if block = append(block, stages.Wanted{Item: it, At: j.OfAnswer(a.At)}); len(block) < verdictBlock {
				continue
			}
			if err := w.silently(j, block); err != nil {
				return err
			}
			block = block[:0]
		}
		if err := w.silently(j, block); err != nil {
			return err
		}
	}
	return w.flush()
}
