package waves

import (
	"assay"
	"assay/expr"
	"assay/plan"
	"assay/study"
)

// asking is the recipe of an ask or continue stage.
type asking struct {
	talk   *plan.Talk
	input  string
	chosen []*study.Lane
	from   *asking // of a continue stage
	redone *redone

	imported bool // its answers were made elsewhere: nothing is asked
}

func (a *asking) lanes() []*study.Lane { return a.chosen }
func (a *asking) turns() int           { return len(a.talk.Steps) }
func (a *asking) items() string        { return a.input }

func (a *asking) at(it assay.Item, _ int64, lane string, turn int) []assay.Coordinates {
	if keep := a.talk.Stage.Keep; keep != nil {
		// An item that the condition cannot be told for was found out before the run began.
		if ok, err := keep.Bool(expr.Vars{Item: &it}); err != nil || !ok {
			return nil
		}
	}
	ways := a.talk.AllWays(turn-1, it)
	out := make([]assay.Coordinates, len(ways))
	for i, w := range ways {
		out[i] = a.talk.At(turn-1, lane, it.ID, w)
	}
	for _, r := range a.redone.of(a.talk.Stage.Name, lane, it.ID) {
		out = append(out, a.extra(it, 0, r, turn)...)
	}
	return out
}

func (a *asking) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	_, out, err := a.history(it, at)
	return out, err
}

// history is the way of a request, and the requests whose answers stand before it. A further draw follows its own
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
		texts = append(texts, text)
	}
	p, err := a.talk.Prompt(at.Turn-1, it, w, texts)
	return p, err == nil, err
}

func (a *asking) after(lane string, turn int) []groupKey {
	switch {
	case turn > 1:
		return []groupKey{{a.talk.Stage.Name, lane, turn - 1}}
	case a.from != nil:
		return []groupKey{{a.from.talk.Stage.Name, lane, a.from.turns()}}
	}
	return nil
}
