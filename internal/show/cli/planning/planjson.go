package planning

import (
	"assay/internal/send/workspace"
	"assay/internal/study/plan"
)

// The shape of `plan --json`. Money is in dollars; an unknown price is null, never 0.
type planDocument struct {
	Study string         `json:"study"`
	Waves int            `json:"waves"`
	Items map[string]int `json:"items"`
	Total partDocument   `json:"total"`
	Parts []partDocument `json:"parts"`
	Power []plan.Power   `json:"power,omitempty"`
	Notes []string       `json:"notes,omitempty"`
	Ahead *aheadDocument `json:"ahead,omitempty"`
}

// aheadDocument holds what `assay run` would do now.
type aheadDocument struct {
	Run       string       `json:"run,omitempty"` // that it goes on with; without it, a new one is begun
	Refused   string       `json:"refused,omitempty"`
	Changed   string       `json:"changed,omitempty"` // in the study, since that run or the newest closed one
	TakenOver int64        `json:"taken_over"`        // at most; of a run it goes on with, what has an answer
	InFlight  int64        `json:"in_flight,omitempty"`
	New       int64        `json:"new"`
	Cost      costDocument `json:"cost_usd"` // of what is new
}

func aheadJSON(a *workspace.Ahead) *aheadDocument {
	if a == nil {
		return nil
	}
	doc := &aheadDocument{Run: a.Run.ID, TakenOver: a.Over.Most, InFlight: a.Over.Away, New: a.Over.New, Cost: costJSON(a.Over.Cost)}
	if a.Refused != nil {
		doc.Refused = a.Refused.Error()
	}
	if a.Edit != nil {
		doc.Changed = a.Edit.Words()
	}
	return doc
}

type partDocument struct {
	Wave     int            `json:"wave,omitempty"`
	Stage    string         `json:"stage,omitempty"`
	Verb     string         `json:"verb,omitempty"`
	Lane     string         `json:"lane,omitempty"`
	Model    string         `json:"model,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Turn     int            `json:"turn,omitempty"`
	Exact    bool           `json:"exact"`
	Gated    bool           `json:"gated,omitempty"`
	Requests int64          `json:"requests"`
	Bytes    int64          `json:"bytes,omitempty"`
	Segments []plan.Segment `json:"segments,omitempty"`
	Input    plan.Span      `json:"input_tokens"`
	Output   plan.Span      `json:"output_tokens"`
	From     plan.Source    `json:"output_from,omitempty"` // what the tokens of answers are estimated from
	Cost     costDocument   `json:"cost_usd"`
	Live     costDocument   `json:"live_cost_usd"`
}

type costDocument struct {
	Low      *float64 `json:"low"`
	Expected *float64 `json:"expected"`
	High     *float64 `json:"high"`
	Unpriced int64    `json:"unpriced_requests,omitempty"`
}

func planJSON(d *plan.Input, p *plan.Plan, a *workspace.Ahead) planDocument {
	total := p.Sum(func(plan.Part) bool { return true })
	doc := planDocument{Study: p.Study, Ahead: aheadJSON(a), Waves: p.Waves, Items: p.Items, Power: p.Power, Notes: p.Said(nil),
		Total: partDocument{
			Exact: total.Exact, Requests: total.Requests, Bytes: total.Bytes, Input: total.Input, Output: total.Output,
			Cost: costJSON(total.Cost), Live: costJSON(total.Live),
		}}
	for _, q := range p.Parts {
		doc.Parts = append(doc.Parts, partDocument{
			Wave: q.Wave, Stage: q.Stage, Verb: string(q.Verb), Lane: q.Lane.Name, Model: q.Lane.ID(), Mode: string(d.Sent(&q)),
			Turn: q.Turn, Exact: q.Exact, Gated: q.Gated, Requests: q.Requests, Bytes: q.Bytes, Segments: q.Segments,
			Input: q.Input, Output: q.Output, From: q.From, Cost: costJSON(q.Cost), Live: costJSON(q.Live),
		})
	}
	return doc
}

func costJSON(p plan.Price) costDocument {
	return costDocument{Low: p.Low.Dollars(), Expected: p.Expected.Dollars(), High: p.High.Dollars(),
		Unpriced: p.Expected.Unknown}
}
