package rows

import (
	"context"
	"errors"
	"iter"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Superseded is an answer that stood until an edit of the study: it counts in no table, and what it cost is spent.
type Superseded struct {
	Key      string     `json:"key"`
	Stage    string     `json:"stage"`
	Item     string     `json:"item"`
	Lane     string     `json:"asked_lane"`
	Of       string     `json:"lane"` // whose answer it is, or is about
	Judge    string     `json:"judge,omitempty"`
	Turn     int        `json:"turn"`
	Branch   string     `json:"branch,omitempty"`
	Draw     int        `json:"draw"`
	Attempt  int64      `json:"attempt"`
	Mode     string     `json:"mode"`
	Segment  int64      `json:"segment"`
	Ending   string     `json:"ending"`
	Text     string     `json:"text"`
	Fault    string     `json:"fault,omitempty"`
	Cost     *float64   `json:"cost_usd"`
	Settled  *time.Time `json:"settled"`
	Edit     int64      `json:"edit"` // its number among those of the run
	By       string     `json:"superseded_by"`
	Since    time.Time  `json:"superseded_at"`
	Sent     string     `json:"sent,omitempty"` // the bytes that went out, where one request is shown and the file that was sent has them
	Verdicts []Verdict  `json:"verdicts,omitempty"`
}

// SupersededOf returns the answers of a run that edits of its study superseded and that are picked, the first edit
// first.
func SupersededOf(ctx context.Context, r *results.Reader, run store.Run, p Pick) iter.Seq2[*Superseded, error] {
	return func(yield func(*Superseded, error) bool) {
		for a, err := range r.Ledger.Superseded(ctx, run.No, nil) {
			if err != nil {
				yield(nil, err)
				return
			}
			if p.Stage != "" && a.At.Stage != p.Stage || p.Lane != "" && a.Lane != p.Lane || p.Item != "" && a.At.Item != p.Item || p.Draw != 0 && a.At.Draw != p.Draw {
				continue
			}
			if !yield(superseded(a), nil) {
				return
			}
		}
	}
}

func superseded(a store.SupersededAnswer) *Superseded {
	of := a.At.Lane
	if a.At.Against != "" {
		of = ""
	}
	s := &Superseded{
		Key: a.Key.String(), Stage: a.At.Stage, Item: a.At.Item, Lane: a.Lane, Of: of, Judge: a.At.Judge, Turn: a.At.Turn, Branch: a.At.Branch, Draw: a.At.Draw,
		Attempt: a.Try, Mode: string(a.Mode), Segment: a.Segment, Ending: string(a.Outcome.Ending), Text: a.Outcome.Text, Settled: results.KnownTime(a.Settled),
		Edit: a.Edit, By: a.What, Since: a.Since,
	}
	if a.Outcome.Fault != nil {
		s.Fault = a.Outcome.Fault.Error()
	}
	if a.Cost != nil {
		usd := a.Cost.Float()
		s.Cost = &usd
	}
	return s
}

// studyChanged is why a request that was superseded cannot be made again.
const studyChanged = "cannot be made again: the study was changed since"

// earlier returns the answers to a request that edits superseded, with the verdicts on them.
func earlier(ctx context.Context, r *results.Reader, run store.Run, key assay.Key) (all []Superseded, err error) {
	verdicts, err := r.Ledger.SupersededVerdicts(ctx, run.No, key)
	if err != nil {
		return nil, err
	}
	rows, err := OfPage(ctx, r, run)
	if err != nil {
		return nil, err
	}
	for a, err := range r.Ledger.Superseded(ctx, run.No, &key) {
		if err != nil {
			return nil, err
		}
		s := superseded(a)
		if a.Mode == store.Batch {
			if s.Sent, _, err = keptBytes(ctx, r, run, a.Answer); err != nil {
				return nil, err
			}
		}
		for i := range verdicts {
			if verdicts[i].Superseded == a.Edit {
				s.Verdicts = append(s.Verdicts, *rows.Verdict(&verdicts[i]))
			}
		}
		all = append(all, *s)
	}
	return all, nil
}

// keptBytes returns the bytes of a request out of the file that was sent; nothing where they are not there.
func keptBytes(ctx context.Context, r *results.Reader, run store.Run, a store.Answer) (text, how string, err error) {
	g, err := r.Ledger.Segment(ctx, a.Segment)
	if err != nil || g.Input == "" {
		return "", studyChanged, err
	}
	line, err := lineSent(ctx, r, run, g, a.Key)
	if err != nil || line == nil {
		return "", studyChanged, nil // the file is gone
	}
	return string(line), sentKept, nil
}

// answerTo returns what stands for a request; where nothing does, what stood until an edit, and true.
func answerTo(ctx context.Context, r *results.Reader, run store.Run, key assay.Key) (store.Answer, bool, error) {
	a, err := r.Ledger.AnswerTo(ctx, run.No, key)
	if !errors.Is(err, store.ErrNotFound) {
		return a, false, err
	}
	for old, gone := range r.Ledger.Superseded(ctx, run.No, &key) {
		if gone != nil {
			return a, false, gone
		}
		a, err = old.Answer, nil
	}
	return a, err == nil, err
}
