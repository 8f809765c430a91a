package rows

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Pick selects answers or verdicts of a run; empty fields do not narrow.
type Pick struct {
	Stage   string
	Lane    string // of answers, the lane that was asked; of verdicts, the one that was judged
	Judged  string // of answers, the lane that the judge who was asked judged
	Item    string
	Judge   string
	Verdict string // a label, a state, or of a pair the name of the better one
	Draw    int
}

// itemPage is how many requests on one item are read at a time.
const itemPage = 200

// Answers returns those that are picked, in the order in which they were sent. Those on one item are found by an index,
// page by page, without walking over the whole run.
func Answers(ctx context.Context, r *results.Reader, run store.Run, p Pick) iter.Seq2[store.Answer, error] {
	all := r.Ledger.Answers(ctx, run.No, p.Stage, p.Lane)
	if p.Item != "" {
		all = onItem(ctx, r, run, store.AnswerFilter{Stage: p.Stage, Lane: p.Lane, Item: p.Item})
	}
	return func(yield func(store.Answer, error) bool) {
		for a, err := range all {
			if err == nil && (p.Draw != 0 && a.At.Draw != p.Draw || p.Judged != "" && !p.judged(&a)) {
				continue
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// judged reports whether an answer is a judge's about the lane.
func (p Pick) judged(a *store.Answer) bool {
	return a.At.Judge != "" && (a.At.Lane == p.Judged || a.At.Against == p.Judged)
}

// onItem walks over the requests of a run that pass a filter, page by page.
func onItem(ctx context.Context, r *results.Reader, run store.Run, f store.AnswerFilter) iter.Seq2[store.Answer, error] {
	return func(yield func(store.Answer, error) bool) {
		var after store.Mark
		for n := itemPage; n == itemPage; {
			some, err := r.Pages.AnswersPage(ctx, run.No, f, after, itemPage)
			if err != nil {
				yield(store.Answer{}, err)
				return
			}
			n = len(some)
			for _, a := range some {
				after = store.Mark{Segment: a.Segment, Ord: a.Ord}
				if !yield(a, nil) {
					return
				}
			}
		}
	}
}

// Judgement is a verdict, and where it is asked for what it is about: the question and the answers that the judge read.
type Judgement struct {
	Verdict
	Winner   string    `json:"winner,omitempty"`        // of a pair: the better one, or tie
	Asked    []Message `json:"asked,omitempty"`         // the conversation before the judged answer
	AskedWhy string    `json:"asked_unknown,omitempty"` // why it cannot be made again
	Text     string    `json:"answer,omitempty"`        // the judged answer; of a pair, the one shown first
	Opposite string    `json:"second_answer,omitempty"` // of a pair, the one shown second
}

// Detail is how much of a judgement is read.
type Detail int

// How much is read.
const (
	Bare Detail = iota // the verdict alone
	Wide               // with the question and the answers
)

// Judgements returns the verdicts that are picked, in the order in which they were given. Stale ones are left out.
func (t *Reader) Judgements(ctx context.Context, p Pick, d Detail) iter.Seq2[*Judgement, error] {
	return func(yield func(*Judgement, error) bool) {
		block := make([]store.Verdict, 0, blockSize)
		flush := func() bool {
			made, err := t.judgements(ctx, block, d)
			if err != nil {
				yield(nil, err)
				return false
			}
			block = block[:0]
			for _, j := range made {
				if !yield(j, nil) {
					return false
				}
			}
			return true
		}
		for v, err := range t.picked(ctx, p) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !p.takes(&v) {
				continue
			}
			if block = append(block, v); len(block) == cap(block) && !flush() {
				return
			}
		}
		flush()
	}
}

// picked walks over the verdicts among which are those that are wanted: by an index where there is one.
func (t *Reader) picked(ctx context.Context, p Pick) iter.Seq2[store.Verdict, error] {
	if p.Item == "" {
		stage := ""
		if st, ok := t.Study.Stage(p.Stage); ok && results.GivesVerdicts(st) {
			stage = p.Stage
		}
		return t.Ledger.Verdicts(ctx, t.Run.No, stage)
	}
	return func(yield func(store.Verdict, error) bool) {
		var keys []assay.Key
		for a, err := range onItem(ctx, t.Reader, t.Run, store.AnswerFilter{Item: p.Item}) {
			if err != nil {
				yield(store.Verdict{}, err)
				return
			}
			keys = append(keys, a.Key)
		}
		found, err := t.Ledger.VerdictsOn(ctx, t.Run.No, keys)
		if err != nil {
			yield(store.Verdict{}, err)
			return
		}
		byNo := map[int64]store.Verdict{}
		var order []int64
		for _, some := range found {
			for _, v := range some {
				if _, seen := byNo[v.No]; !seen {
					byNo[v.No], order = v, append(order, v.No)
				}
			}
		}
		slices.Sort(order)
		for _, no := range order {
			if !yield(byNo[no], nil) {
				return
			}
		}
	}
}

// takes reports whether a verdict is picked.
func (p Pick) takes(v *store.Verdict) bool {
	return (p.Stage == "" || v.At.Stage == p.Stage || v.At.Source == p.Stage) &&
		(p.Lane == "" || v.At.Lane == p.Lane || v.At.Lane != "" && v.At.Against == p.Lane) &&
		(p.Item == "" || v.At.Item == p.Item || v.At.Lane == "" && v.At.Against == p.Item) &&
		(p.Judge == "" || v.At.Judge == p.Judge) && (p.Draw == 0 || v.At.Draw == p.Draw) &&
		(p.Verdict == "" || v.Label == p.Verdict || string(v.State) == p.Verdict || winner(v) == p.Verdict)
}

// winner returns the better one of a pair, or tie; empty where no pair was judged.
func winner(v *store.Verdict) string {
	if v.At.Against == "" || v.State != assay.VerdictValid {
		return ""
	}
	switch v.Label {
	case assay.LabelA:
		if v.At.Lane == "" {
			return v.At.Item
		}
		return v.At.Lane
	case assay.LabelB:
		return v.At.Against
	}
	return v.Label
}

func (t *Reader) judgements(ctx context.Context, block []store.Verdict, d Detail) ([]*Judgement, error) {
	var out []*Judgement
	var refs []assay.Ref
	for i := range block {
		v := &block[i]
		out = append(out, &Judgement{Verdict: *t.Verdict(v), Winner: winner(v)})
		refs = append(refs, v.Answers()...)
	}
	if d == Bare {
		return out, nil
	}
	found, err := t.Ledger.AnswersTo(ctx, t.Run.No, refs)
	if err != nil {
		return nil, err
	}
	for i := range block {
		if err := t.widen(ctx, &block[i], out[i], found); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// widen adds what a judge read.
func (t *Reader) widen(ctx context.Context, v *store.Verdict, j *Judgement, found map[assay.Key]store.Answer) error {
	if v.At.Lane == "" && v.At.Against != "" {
		items, err := t.Ledger.ItemsByID(ctx, t.Run.No, t.input(v.At.Stage), []string{v.At.Item, v.At.Against})
		j.Text, j.Opposite = textOf(items[v.At.Item]), textOf(items[v.At.Against])
		return err
	}
	for key, into := range map[assay.Key]*string{v.Subject: &j.Text, v.Against: &j.Opposite} {
		a, ok := found[key]
		if !ok || !a.Ended {
			continue
		}
		a, err := t.whole(ctx, a)
		if err != nil {
			return err
		}
		*into = a.Outcome.Text
	}
	if a, ok := found[v.Subject]; ok {
		var err error
		if j.Asked, err = asked(ctx, t.Reader, t.Run, a); err != nil {
			j.AskedWhy = notAgain + err.Error()
		}
	}
	return ctx.Err()
}

// textOf returns the text of an item that is compared.
func textOf(it assay.Item) string {
	if v, ok := it.Fields["text"]; ok {
		return fmt.Sprint(v)
	}
	return ""
}
