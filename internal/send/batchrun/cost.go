package batchrun

import (
	"context"
	"encoding/json"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
)

// Cost is what one model of one file costs.
type Cost struct {
	Batch    string
	File     string
	Provider string
	Model    string
	Mode     assay.Mode
	Requests int64
	Expected assay.Cost
	High     assay.Cost // every answer at its limit
	Spent    assay.Cost // zero: nothing yet
	Input    int64      // tokens that were billed
	Output   int64
	Mute     int64 // replies that did not say how many tokens they took
}

// Billed reports whether anything of it has come back.
func (c Cost) Billed() bool { return c.Spent.Priced+c.Spent.Unknown > 0 }

// MarshalJSON writes dollars and tokens; null is what is not known, or nothing that was billed yet.
func (c Cost) MarshalJSON() ([]byte, error) {
	doc := struct {
		Batch    string     `json:"batch,omitempty"` // empty: an estimate, nothing was sent
		File     string     `json:"file"`
		Provider string     `json:"provider"`
		Model    string     `json:"model"`
		Mode     assay.Mode `json:"mode"`
		Requests int64      `json:"requests"`
		Expected *float64   `json:"expected_usd"`
		High     *float64   `json:"most_usd"`
		Spent    *float64   `json:"spent_usd"`
		Input    *int64     `json:"input_tokens"`
		Output   *int64     `json:"output_tokens"`
	}{c.Batch, c.File, c.Provider, c.Model, c.Mode, c.Requests, dollars(c.Expected), dollars(c.High), nil, nil, nil}
	if c.Billed() {
		doc.Spent, doc.Input, doc.Output = dollars(c.Spent), assay.KnownTokens(c.Input, c.Mute), assay.KnownTokens(c.Output, c.Mute)
	}
	return json.Marshal(doc)
}

func dollars(c assay.Cost) *float64 {
	if !c.Known() {
		return nil
	}
	f := c.Sum.Float()
	return &f
}

// Estimate is what a file costs that was not sent.
func Estimate(name string, file *batchfile.File) []Cost {
	var out []Cost
	for _, l := range file.Lanes {
		out = append(out, Cost{File: name, Provider: file.Provider, Model: l.Model, Mode: file.Mode, Requests: l.Requests, Expected: l.Expected, High: l.High})
	}
	return out
}

// Costs is what the ledger knows of a run's costs, beside what was expected.
func (r *Reader) Costs(ctx context.Context, run store.Run) ([]Cost, error) {
	b, err := of(run)
	if err != nil {
		return nil, err
	}
	all, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	out := Estimate(run.Study, &b.File)
	for i, l := range b.File.Lanes {
		c := &out[i]
		c.Batch = run.ID
		for _, g := range all {
			if g.Lane == l.Name {
				c.Spent = c.Spent.Add(g.Cost)
				c.Input, c.Output = c.Input+g.InputTokens, c.Output+g.OutputTokens
				c.Mute += g.UsageUnknown
			}
		}
	}
	return out, nil
}
