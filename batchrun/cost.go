package batchrun

import (
	"context"

	"assay"
	"assay/batchfile"
	"assay/store"
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
			}
		}
	}
	return out, nil
}
