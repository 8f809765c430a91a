package script

import (
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// asking is an ask or continue stage.
type asking struct {
	talk   *plan.Talk
	input  string
	chosen []*study.Lane
	from   *asking // of a continue stage
	redone *redone

	judges   []*judging // whose verdicts its condition looks at
	imported bool       // its answers were made elsewhere: nothing is asked
}

func (a *asking) lanes() []*study.Lane { return a.chosen }
func (a *asking) turns() int           { return len(a.talk.Steps) }
func (a *asking) tries() []int         { return []int{firstAsked} }
func (a *asking) items() string        { return a.input }

// span returns the turns that a judge stage may read.
func (a *asking) span() study.Turns {
	return study.Turns{N: a.turns(), GoesOn: a.talk.Stage.GoesOn()}
}

func (a *asking) at(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	if !keeps(a.talk.Stage, it) || a.from != nil && !a.from.wants(it) {
		return nil
	}
	ways := a.talk.AllWays(turn-1, it)
	out := make([]assay.Coordinates, 0, len(ways))
	for _, w := range ways {
		if a.asked(turn, it.ID, w, lane) {
			out = append(out, a.talk.At(turn-1, lane, it.ID, w))
		}
	}
	for _, r := range a.redone.of(a.talk.Stage.Name, lane, it.ID) {
		out = append(out, a.extra(it, 0, r, turn)...)
	}
	return out
}

// asked reports whether one of some lanes was asked; of answers made elsewhere, the rows may say.
func (a *asking) asked(turn int, item string, w plan.Way, lanes ...string) bool {
	return slices.ContainsFunc(lanes, func(lane string) bool { return a.talk.Stage.Taken.Has(a.talk.At(turn-1, lane, item, w)) })
}

// wants reports whether an item passes the conditions on items alone, of this stage and of those it continues.
func (a *asking) wants(it assay.Item) bool {
	return keeps(a.talk.Stage, it) && (a.from == nil || a.from.wants(it))
}

func (a *asking) conditional() bool {
	return conditional(a.talk.Stage) || a.from != nil && a.from.conditional()
}

// trials of a conversation are those of the one it goes on with, and its own. Where a stage asks anew, its condition is
// about the same lane's answers to the same item; where that lane gave none, about those of all lanes.
func (a *asking) trials(it assay.Item, at assay.Coordinates) ([]trial, error) {
	if !a.conditional() {
		return nil, nil
	}
	st := a.talk.Stage
	own := trial{stage: st, item: &it, lane: at.Lane}
	if a.from == nil {
		if asksVerdicts(st) {
			own.talks = a.earlier(it, at.Lane)
		}
		return []trial{own}, nil
	}
	_, before, err := a.history(it, at)
	if err != nil {
		return nil, err
	}
	before = slices.DeleteFunc(before, func(c assay.Coordinates) bool { return c.Stage == st.Name })
	if len(before) == 0 {
		return nil, fmt.Errorf("request %s continues no conversation", at.Key())
	}
	out, err := a.from.trials(it, before[len(before)-1])
	own.talks = [][]assay.Coordinates{latestFirst(before)}
	if conditional(st) {
		out = append(out, own)
	}
	return out, err
}

// earlier returns the answers about an item that the stage's condition looks at, each as a conversation of its own.
func (a *asking) earlier(it assay.Item, lane string) [][]assay.Coordinates {
	var own, others [][]assay.Coordinates
	for _, j := range a.judges {
		for turn := 1; turn <= j.turns(); turn++ {
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

func (a *asking) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	_, out, err := a.history(it, at)
	return out, err
}

// history returns the way of a request, and the requests whose answers stand before it. A further draw follows its own
// answers; those of the stage that it continues are the plan's.
func (a *asking) history(it assay.Item, at assay.Coordinates) (plan.Way, []assay.Coordinates, error) {
	draw, further := a.planned(at.Draw)
	at.Draw = draw
	w, err := plan.ParseWay(at)
	if err != nil {
		return w, nil, err
	}
	out := a.talk.History(at.Turn-1, at.Lane, it, w)
	for i := range out {
		if out[i].Stage == at.Stage {
			out[i].Draw += further
		}
	}
	return w, out, nil
}

func (a *asking) prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error) {
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
		texts = append(texts, text.text)
	}
	p, err := a.talk.Prompt(at.Turn-1, it, w, texts)
	return p, err == nil, err
}

func (a *asking) after(lane string, turn int) []store.GroupKey {
	switch {
	case turn > 1:
		return []store.GroupKey{{Stage: a.talk.Stage.Name, Lane: lane, Turn: turn - 1}}
	case a.from != nil:
		return []store.GroupKey{{Stage: a.from.talk.Stage.Name, Lane: lane, Turn: a.from.turns()}}
	}
	return nil
}
