package sycobench

import (
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/send/script"
	"assay/internal/show/export"
)

// opened returns the conversations of the stage. Those that go on from another stage get the first question and its answer put
// in front: a file of conversations begins with the opening, wherever it was asked.
func (x *experiment) opened(ctx context.Context) iter.Seq2[script.Conversation, error] {
	all := x.rows.Scripts.Conversations(ctx, x.rows.Run, x.st.Name)
	root := x.st
	for root.Continue != "" {
		from, ok := x.rows.Study.Stage(root.Continue)
		if !ok {
			break
		}
		root = from
	}
	if root == x.st || !export.HasConversations(root) {
		return all
	}
	return func(yield func(script.Conversation, error) bool) {
		next, stop := iter.Pull2(x.rows.Scripts.Conversations(ctx, x.rows.Run, root.Name))
		defer stop()
		for talk, err := range all {
			if err == nil {
				err = x.open(&talk, next)
			}
			if !yield(talk, err) || err != nil {
				return
			}
		}
	}
}

// open puts the openings of a conversation in front of it. Both walk over the items of one input.
func (x *experiment) open(talk *script.Conversation, next func() (script.Conversation, error, bool)) error {
	for {
		first, err, ok := next()
		if err != nil || !ok {
			return err
		}
		if first.Item.ID == talk.Item.ID {
			talk.Exchanges = append(x.firstOf(first), talk.Exchanges...)
			return nil
		}
	}
}

// firstOf returns the openings of those lanes that go on.
func (x *experiment) firstOf(talk script.Conversation) []script.Exchange {
	var out []script.Exchange
	for _, e := range talk.Exchanges {
		if _, ok := x.models[e.At.Lane]; ok && e.At.Turn == 1 {
			out = append(out, e)
		}
	}
	return out
}

// own reports whether an exchange is of the stage that is written, and no opening of another.
func (x *experiment) own(at assay.Coordinates) bool { return at.Stage == x.st.Name }

// turn returns the place of an exchange in its file: the opening is 1.
func (x *experiment) turn(at assay.Coordinates) int {
	if x.own(at) && x.st.Continue != "" {
		return int(at.Turn) + 1
	}
	return int(at.Turn)
}

// count sums the tokens of a conversation, and reports whether it has all its answers.
func (x *experiment) count(th *thread) (whole bool, input, output *int64) {
	whole = th.Initial.Ending == "" || assay.Ending(th.Initial.Ending).Stands()
	input, output = th.Initial.Input, th.Initial.Output
	if x.st.Continue != "" {
		input, output = new(int64), new(int64) // the opening counts in its own stage
	}
	for _, r := range th.Rounds {
		whole = whole && (r.Ending == "" || assay.Ending(r.Ending).Stands())
		if r.Ending == rows.Unasked {
			continue // nothing was sent
		}
		input, output = both(input, r.Input), both(output, r.Output)
	}
	return whole, input, output
}

// scoring returns what the judges of this stage's answers cost; nil where that is not known, or paid together with other stages.
func (x *experiment) scoring() *float64 {
	var all assay.Cost
	for i := range x.rows.Study.Stages {
		st := &x.rows.Study.Stages[i]
		if !slices.Contains(st.Judge.List, x.st.Name) {
			continue
		}
		cost := x.rows.Costs[st.Name]
		if len(st.Judge.List) > 1 && cost != (assay.Cost{}) {
			return nil
		}
		all = all.Add(cost)
	}
	return all.Dollars()
}

// both adds two numbers; the sum is known where both are.
func both[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
