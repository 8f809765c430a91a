package trend

import (
	"time"

	"assay/internal/find/stats"
	"assay/internal/find/stats/drift"
)

// JSON is a trend for programs. What is not known is null.
type JSON struct {
	Study     string      `json:"study"`
	Rehearsal bool        `json:"rehearsal,omitempty"`
	Level     float64     `json:"level"`
	Runs      []runJSON   `json:"runs"`
	Stages    []stageJSON `json:"stages"`
	Open      int         `json:"open_runs"`
	Earlier   int         `json:"earlier_runs"`
}

type runJSON struct {
	Run    string    `json:"run"`
	Begun  time.Time `json:"begun"`
	Closed time.Time `json:"closed"`
	Spent  *float64  `json:"spent_usd"`
}

type stageJSON struct {
	Stage  string      `json:"stage"`
	What   string      `json:"what"`
	Unit   string      `json:"unit"`
	Points []pointJSON `json:"points"`
	Steps  []stepJSON  `json:"steps"`
}

type pointJSON struct {
	Run       string   `json:"run"`
	Lane      string   `json:"lane"`
	Value     *float64 `json:"value"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	N         int      `json:"n"`
	Corrected bool     `json:"corrected"`
	Judge     string   `json:"judge"` // its state
}

type stepJSON struct {
	From    string     `json:"from"`
	To      string     `json:"to"`
	Items   int        `json:"items"`
	Why     string     `json:"why,omitempty"`
	Judge   *judgeJSON `json:"judge"`
	Lanes   []laneJSON `json:"lanes"`
	Differs []string   `json:"differs"`
}

type changeJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	P     *float64 `json:"p"`
	Holm  *float64 `json:"p_holm,omitempty"`
	N     int      `json:"n"`
}

type judgeJSON struct {
	Shift  *changeJSON `json:"shift"` // null: it was not measured
	Moved  *bool       `json:"moved"`
	Gold   string      `json:"gold_stage,omitempty"`
	Unlike string      `json:"gold_unlike,omitempty"` // the answers of the study, so that its shift corrects nothing
	Edits  []string    `json:"edits"`
	Served []Version   `json:"served"`
	Words  string      `json:"words"`
}

type laneJSON struct {
	Lane   string      `json:"lane"`
	Change changeJSON  `json:"change"`
	Model  *changeJSON `json:"model"` // null: it is not known
	Whose  drift.Whose `json:"whose"`
	More   int         `json:"more_gold_answers,omitempty"`
	Taken  int64       `json:"answers_taken_over"`
	Words  string      `json:"words"`
}

// JSON returns the trend for programs.
func (t *Trend) JSON() JSON {
	doc := JSON{Study: t.Study, Rehearsal: t.Rehearsal, Level: Level, Runs: []runJSON{}, Stages: []stageJSON{}, Open: t.Open,
		Earlier: t.Earlier}
	for _, r := range t.Runs {
		doc.Runs = append(doc.Runs, runJSON{r.ID, r.Created, r.Closed, r.Cost.Dollars()})
	}
	for i := range t.Stages {
		doc.Stages = append(doc.Stages, t.stageJSON(&t.Stages[i]))
	}
	return doc
}

func (t *Trend) stageJSON(s *Stage) stageJSON {
	doc := stageJSON{Stage: s.Name, What: s.What, Unit: string(s.Unit), Points: []pointJSON{}, Steps: []stepJSON{}}
	for i, points := range s.Points {
		for k, p := range points {
			one := pointJSON{Run: t.Runs[i].ID, Lane: s.Lanes[k], Value: p.Value.OrNil(), N: p.N, Corrected: p.Corrected,
				Judge: s.Judged[i]}
			one.Low, one.High = p.Interval.OrNil()
			doc.Points = append(doc.Points, one)
		}
	}
	for i := range s.Steps {
		doc.Steps = append(doc.Steps, t.stepJSON(s, i))
	}
	return doc
}

func (t *Trend) stepJSON(s *Stage, i int) stepJSON {
	step := &s.Steps[i]
	doc := stepJSON{From: t.Runs[i].ID, To: t.Runs[i+1].ID, Items: step.Items, Why: step.Why, Lanes: []laneJSON{},
		Differs: append([]string{}, step.Differs()...)}
	if step.Why != "" {
		return doc
	}
	j := &step.Judge
	doc.Judge = &judgeJSON{Gold: j.Gold, Unlike: j.Unlike, Edits: []string{}, Served: append([]Version{}, j.Served...),
		Words: j.Words(s.Unit)}
	for _, e := range j.ByHand {
		doc.Judge.Edits = append(doc.Judge.Edits, e.String())
	}
	if j.Measured {
		doc.Judge.Shift, doc.Judge.Moved = changeDoc(j.Shift), new(j.Moved(Level))
	}
	for k := range step.Lanes {
		l := &step.Lanes[k]
		one := laneJSON{Lane: l.Name, Change: *changeDoc(l.Change), Whose: l.Whose, More: l.More, Taken: l.TakenOver,
			Words: l.Words(s.Unit, j)}
		if l.Model.Value.OK {
			one.Model = changeDoc(l.Model)
		}
		doc.Lanes = append(doc.Lanes, one)
	}
	return doc
}

func changeDoc(c drift.Change) *changeJSON {
	out := &changeJSON{Value: c.Value.OrNil(), P: c.P.OrNil(), N: c.N}
	out.Low, out.High = c.Interval.OrNil()
	if c.Holm != (stats.Number{}) {
		out.Holm = c.Holm.OrNil()
	}
	return out
}
