package stages

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Asking is an ask, continue or import stage.
type Asking struct {
	conversation *plan.Conversation
	input        string
	chosen       []*study.Lane
	from         *Asking // of a continue stage
	orders       *again.Orders

	judges   []*Judge // whose verdicts its condition looks at
	imported bool     // its answers were made elsewhere: nothing is asked
}

func (s *Stages) buildAsk(ctx context.Context, st *study.Stage) (Stage, error) {
	conversation, err := s.Input.Conversation(ctx, st)
	if err != nil {
		return nil, err
	}
	a := &Asking{conversation: conversation, input: s.Input.Root(st), chosen: s.chosen(s.Input.Study.Contestants(st)),
		imported: st.Import != nil, orders: s.Orders}
	if st.Continue != "" {
		from, ok := s.Asking(st.Continue)
		if !ok {
			return nil, fmt.Errorf("stage %s continues %s, which has no conversations", st.Name, st.Continue)
		}
		a.from = from
	}
	if AsksVerdicts(st) {
		for _, ref := range st.Keep.Stages() {
			if j, ok := s.all[ref.Stage].(*Judge); ok {
				a.judges = append(a.judges, j)
			}
		}
	}
	return a, nil
}

// Lanes lists the lanes that answer.
func (a *Asking) Lanes() []*study.Lane { return a.chosen }

// Turns returns how many turns there are.
func (a *Asking) Turns() int { return len(a.conversation.Steps) }

// Tries lists one way: a question is asked as it is.
func (a *Asking) Tries() []int { return []int{again.FirstAsked} }

// Items names the input.
func (a *Asking) Items() string { return a.input }

// Imported reports whether all its answers are there from the start.
func (a *Asking) Imported() bool { return a.imported }

// Continues lists the stages of the conversation in the study, the last one first.
func (a *Asking) Continues() []*study.Stage {
	var out []*study.Stage
	for ; a != nil; a = a.from {
		out = append(out, a.conversation.Stage)
	}
	return out
}

func (a *Asking) has(lane string) bool {
	return slices.ContainsFunc(a.chosen, func(l *study.Lane) bool { return l.Name == lane })
}

// span returns the turns that a judge stage may read.
func (a *Asking) span() study.Turns {
	return study.Turns{N: a.Turns(), GoesOn: a.conversation.Stage.GoesOn()}
}

// At lists the requests about an item in a turn.
func (a *Asking) At(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	if !Keeps(a.conversation.Stage, it) || a.from != nil && !a.from.wants(it) {
		return nil
	}
	ways := a.conversation.AllWays(turn-1, it)
	out := make([]assay.Coordinates, 0, len(ways))
	for _, w := range ways {
		if a.asked(turn, it.ID, w, lane) {
			out = append(out, a.conversation.At(turn-1, lane, it.ID, w))
		}
	}
	for _, r := range a.orders.Of(a.conversation.Stage.Name, lane, it.ID) {
		out = append(out, a.Extra(it, 0, r, turn)...)
	}
	return out
}

// asked reports whether all of some lanes were asked; of answers made elsewhere, the rows tell.
func (a *Asking) asked(turn int, item string, w plan.Way, lanes ...string) bool {
	return !slices.ContainsFunc(lanes, func(lane string) bool {
		return !a.conversation.Stage.Taken.Has(a.conversation.At(turn-1, lane, item, w))
	})
}

// wants reports whether an item passes the conditions on items alone, of this stage and of those it continues.
func (a *Asking) wants(it assay.Item) bool {
	return Keeps(a.conversation.Stage, it) && (a.from == nil || a.from.wants(it))
}

// Conditional reports whether the stage, or one that it continues, has conditions on more than the item.
func (a *Asking) Conditional() bool {
	return conditional(a.conversation.Stage) || a.from != nil && a.from.Conditional()
}

// Conditions of a conversation are those of the one it goes on with, and its own. Where a stage asks anew, its condition is
// about the same lane's answers to the same item; where that lane gave none, about those of all lanes.
func (a *Asking) Conditions(it assay.Item, at assay.Coordinates) ([]Condition, error) {
	if !a.Conditional() {
		return nil, nil
	}
	st := a.conversation.Stage
	own := Condition{Stage: st, Item: &it, Lane: at.Lane}
	if a.from == nil {
		if AsksVerdicts(st) {
			own.Conversations = a.earlier(it, at.Lane)
		}
		return []Condition{own}, nil
	}
	_, before, err := a.history(it, at)
	if err != nil {
		return nil, err
	}
	before = slices.DeleteFunc(before, func(c assay.Coordinates) bool { return c.Stage == st.Name })
	if len(before) == 0 {
		return nil, fmt.Errorf("request %s continues no conversation", at.Key())
	}
	out, err := a.from.Conditions(it, before[len(before)-1])
	own.Conversations = [][]assay.Coordinates{latestFirst(before)}
	if conditional(st) {
		out = append(out, own)
	}
	return out, err
}

// earlier returns the answers about an item that the stage's condition looks at, each as a conversation of its own.
func (a *Asking) earlier(it assay.Item, lane string) [][]assay.Coordinates {
	var own, others [][]assay.Coordinates
	for _, j := range a.judges {
		for turn := 1; turn <= j.Turns(); turn++ {
			for _, subject := range j.subjects(it, turn) {
				others = append(others, []assay.Coordinates{subject})
				if subject.Lane == lane {
					own = append(own, []assay.Coordinates{subject})
				}
			}
		}
	}
	if len(own) > 0 {
		return own
	}
	return others
}

// Needs lists the requests whose answers come before one.
func (a *Asking) Needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	_, out, err := a.history(it, at)
	return out, err
}

// history returns the way of a request, and the requests whose answers come before it. A further draw follows its own
// Answers; those of the stage that it continues are the plan's.
func (a *Asking) history(it assay.Item, at assay.Coordinates) (plan.Way, []assay.Coordinates, error) {
	draw, further := a.planned(at.Draw)
	at.Draw = draw
	w, err := plan.ParseWay(at)
	if err != nil {
		return w, nil, err
	}
	out := a.conversation.History(at.Turn-1, at.Lane, it, w)
	for i := range out {
		if out[i].Stage == at.Stage {
			out[i].Draw += further
		}
	}
	return w, out, nil
}

// Prompt makes the prompt of a request from the answers before it.
func (a *Asking) Prompt(it assay.Item, at assay.Coordinates, answered Answers) (assay.Prompt, bool, error) {
	w, before, err := a.history(it, at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	var texts []string
	for _, h := range before {
		text, ok := answered[h.Key()]
		if !ok {
			return assay.Prompt{}, false, nil
		}
		texts = append(texts, text.Text)
	}
	p, err := a.conversation.Prompt(at.Turn-1, it, w, texts)
	return p, err == nil, err
}

// After lists the group of the turn before.
func (a *Asking) After(lane string, turn int) []store.GroupKey {
	switch {
	case turn > 1:
		return []store.GroupKey{{Stage: a.conversation.Stage.Name, Lane: lane, Turn: turn - 1}}
	case a.from != nil:
		return []store.GroupKey{{Stage: a.from.conversation.Stage.Name, Lane: lane, Turn: a.from.Turns()}}
	}
	return nil
}

// Extra lists the requests of a turn that a redo makes of a conversation: it is asked again from its first turn, as a draw
// of its own. Ways that begin alike share their first turns, as they do in the plan.
func (a *Asking) Extra(it assay.Item, _ int64, r store.Redo, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	last := a.Turns()
	seen := map[assay.Key]bool{}
	for _, w := range a.conversation.AllWays(last-1, it) {
		if !again.Redoes(r, w.Branch(), w.Draw) {
			continue
		}
		for _, at := range append(a.conversation.History(last-1, r.Lane, it, w), a.conversation.At(last-1, r.Lane, it.ID, w)) {
			if at.Stage != a.conversation.Stage.Name || at.Turn != turn || seen[at.Key()] {
				continue
			}
			seen[at.Key()] = true
			at.Draw += r.Nth * a.conversation.Draws()
			out = append(out, at)
		}
	}
	return out
}

// planned returns the draw of the plan that a draw asks again, and how many draws of the plan lie between the two.
func (a *Asking) planned(draw int) (of, further int) {
	n := a.conversation.Draws()
	of = (draw-1)%n + 1
	return of, draw - of
}

// origin returns the stage whose first turn began the conversation.
func (a *Asking) origin() *Asking {
	for a.from != nil {
		a = a.from
	}
	return a
}
