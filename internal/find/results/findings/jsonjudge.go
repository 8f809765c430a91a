package findings

import (
	"cmp"

	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
	"assay/internal/show/report/words"
)

// judgeJSON is how far people have checked the judge of a stage, for programs. What is not known is null.
type judgeJSON struct {
	Stage     string          `json:"stage"`
	State     checked.State   `json:"state"`
	Words     string          `json:"words"`
	Labels    int             `json:"labels"`           // that people gave, of whole items or not
	Items     int             `json:"items"`            // with all of their labels
	Next      int             `json:"next,omitempty"`   // items at which numbers are corrected next
	Chosen    bool            `json:"chosen,omitempty"` // labels were not drawn: they correct nothing
	LeftOut   int             `json:"items_left_out,omitempty"`
	Earlier   int             `json:"labels_before_the_prompt_changed,omitempty"`
	Agrees    estimateJSON    `json:"agrees"`
	Error     estimateJSON    `json:"error"` // at the last planned look
	Corrected bool            `json:"corrected"`
	Alone     string          `json:"judge_alone_because,omitempty"` // why numbers are not corrected, though people have checked the judge
	About     int             `json:"items_corrected,omitempty"`     // corrected numbers are about so many; 0: all
	Later     int             `json:"items_later,omitempty"`         // and not about so many that came later
	Lanes     []correctedJSON `json:"lanes,omitempty"`
	Judges    []oneJudgeJSON  `json:"judges,omitempty"` // each of several, where the state is that of their mean
}

type oneJudgeJSON struct {
	Judge string        `json:"judge"`
	State checked.State `json:"state"`
	Words string        `json:"words"`
	Error estimateJSON  `json:"error"`
}

type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

type correctedJSON struct {
	Lane  string   `json:"lane"`
	By    string   `json:"by"` // how the value came about
	Judge *float64 `json:"judge_alone"`
	estimateJSON
}

func estimate(n stats.Number, in stats.Interval) estimateJSON {
	if n.Why == "" && !n.OK { // never computed
		return estimateJSON{}
	}
	low, high := in.OrNil()
	return estimateJSON{n.OrNil(), low, high}
}

func judgeStateOf(j words.JudgeState) judgeJSON {
	c := j.Checked
	out := judgeJSON{Stage: j.Stage, State: checked.Unchecked, Words: c.Words(), Corrected: j.Corrected, Alone: j.Alone}
	if c == nil {
		return out
	}
	out.State, out.Labels, out.Items, out.Next = c.State, c.Given, c.Items, c.Next
	out.About, out.Later = c.About, c.Later
	out.Chosen, out.LeftOut, out.Earlier = c.Chosen, c.LeftOut, c.Earlier
	out.Agrees, out.Error = estimate(c.Agrees, c.AgreesInterval), estimate(c.Error, c.ErrorInterval)
	for _, e := range c.Each {
		out.Judges = append(out.Judges, oneJudgeJSON{e.Judge, e.Checked.State, e.Checked.Words(),
			estimate(e.Checked.Error, e.Checked.ErrorInterval)})
	}
	if !j.Corrected {
		return out
	}
	for i, v := range c.Corrected.Values {
		by := cmp.Or(v.Value.Why, c.Used(c.LabelsOf(i)))
		out.Lanes = append(out.Lanes, correctedJSON{c.Lanes[i], by, v.Judge.OrNil(), estimate(v.Value, v.Interval)})
	}
	return out
}
