package cli

import (
	"context"
	"iter"

	"assay"
	"assay/waves"
)

// openings puts the first question and its answer in front of conversations that go on from another stage: a file of
// conversations begins with the opening, wherever it was asked.
func (x *experiment) openings(ctx context.Context) (add func(*waves.Talk) error, stop func()) {
	root := x.st
	for root.Continue != "" {
		from, ok := x.study.Stage(root.Continue)
		if !ok {
			break
		}
		root = from
	}
	if root == x.st || !talks(root) {
		return func(*waves.Talk) error { return nil }, func() {}
	}
	next, stop := iter.Pull2(x.h.planner.Talks(ctx, x.run, root.Name))
	add = func(talk *waves.Talk) error {
		for {
			first, err, ok := next()
			if err != nil || !ok {
				return err
			}
			if first.Item.ID == talk.Item.ID { // both walk over the items of one input
				talk.Exchanges = append(x.firstOf(first), talk.Exchanges...)
				return nil
			}
		}
	}
	return add, stop
}

// firstOf are the openings of those lanes that go on.
func (x *experiment) firstOf(talk waves.Talk) []waves.Exchange {
	var out []waves.Exchange
	for _, e := range talk.Exchanges {
		if _, ok := x.models[e.At.Lane]; ok && e.At.Turn == 1 {
			out = append(out, e)
		}
	}
	return out
}

// own tells whether an exchange is of the stage that is written, and no opening of another.
func (x *experiment) own(at assay.Coordinates) bool { return at.Stage == x.st.Name }

// turn is the place of an exchange in its file: the opening is 1.
func (x *experiment) turn(at assay.Coordinates) int {
	if x.own(at) && x.st.Continue != "" {
		return int(at.Turn) + 1
	}
	return int(at.Turn)
}
