// Package answers reads the answers of a run whole: texts too long for a row come from the bytes that were received.
package answers

import (
	"context"
	"fmt"
	"io/fs"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/dialect"
	"assay/internal/send/script/stages"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Reader reads the answers of one run. It is safe for concurrent use.
type Reader struct {
	Run    store.Run
	Input  *plan.Input
	Ledger *read.Reader
	Files  artifacts.Place
}

// For reads the answers that a block of requests is made from.
func (r *Reader) For(ctx context.Context, rec stages.Stage, block []stages.Wanted) (stages.Answers, error) {
	seen := map[assay.Key]bool{}
	var refs []assay.Ref
	for _, w := range block {
		needs, err := rec.Needs(w.Item, w.At)
		if err != nil {
			return nil, err
		}
		for _, n := range needs {
			if ref := n.Ref(); !seen[ref.Key] {
				seen[ref.Key] = true
				refs = append(refs, ref)
			}
		}
	}
	out := stages.Answers{}
	if len(refs) == 0 {
		return out, nil
	}
	found, err := r.Ledger.AnswersTo(ctx, r.Run.No, refs)
	if err != nil {
		return nil, err
	}
	for k, a := range found {
		if !a.Ended || !a.Outcome.Ending.Stands() {
			continue
		}
		if a, err = r.Whole(ctx, a); err != nil {
			return nil, err
		}
		out[k] = stages.Answer{Text: a.Outcome.Text, Calls: a.Outcome.Calls, Ending: a.Outcome.Ending}
	}
	return out, nil
}

// Whole returns an answer with all of its text; one too long for a row is read from the bytes that came.
func (r *Reader) Whole(ctx context.Context, a store.Answer) (store.Answer, error) {
	if !a.Over {
		return a, nil
	}
	o, err := r.decode(ctx, a)
	if err == nil {
		a.Outcome.Text, a.Outcome.Thoughts, a.Over = o.Reading(), o.Thoughts, false
	}
	return a, err
}

// decode decodes an answer again from the bytes that came.
func (r *Reader) decode(ctx context.Context, a store.Answer) (assay.Outcome, error) {
	var none assay.Outcome
	files, err := r.Ledger.Artifacts(ctx, a.Segment)
	if err != nil {
		return none, err
	}
	l, ok := r.Input.Study.Lane(a.Lane)
	if !ok {
		return none, fmt.Errorf("run %s has no lane %q", r.Run.ID, a.Lane)
	}
	for _, f := range files {
		if f.No != a.Artifact {
			continue
		}
		line, err := artifacts.Line(ctx, r.Files, r.Run.ID, f.Name, a.Offset, a.Length)
		if err == nil {
			err = artifacts.Verify(line, a.Sum)
		}
		if err != nil {
			return none, fmt.Errorf("read the answer to %s: %w", a.Key, err)
		}
		var d dialect.Decoder
		o := none
		if f.Kind == store.ArtifactLive {
			o = d.Body(r.Input.Route(&study.Stage{}, l, assay.ModeLive).Wire.Dialect, line)
		} else {
			o = d.Line(r.Input.Route(&study.Stage{}, l, assay.ModeBatch).Wire, line).Outcome
		}
		if o.Ending != a.Outcome.Ending { // other bytes are there now
			return none, fmt.Errorf("read the answer to %s: %w: read again they are %s, and were %s", a.Key, artifacts.ErrDamaged, o.Ending,
				a.Outcome.Ending)
		}
		return o, nil
	}
	return none, fmt.Errorf("the bytes of the answer to %s are gone: %w", a.Key, fs.ErrNotExist)
}
