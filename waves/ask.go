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
	return out
}

func (a *asking) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	w, err := plan.ParseWay(at)
	if err != nil {
		return nil, err
	}
	return a.talk.History(at.Turn-1, at.Lane, it, w), nil
}

func (a *asking) prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error) {
	w, err := plan.ParseWay(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	var texts []string
	for _, h := range a.talk.History(at.Turn-1, at.Lane, it, w) {
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
