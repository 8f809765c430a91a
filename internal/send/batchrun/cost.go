package batchrun

import (
	"encoding/json"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
)

// Cost is the expected cost of one model of one file.
type Cost struct {
	File     string
	Provider string
	Model    string
	Mode     assay.Mode
	Requests int64
	Expected assay.Cost
	High     assay.Cost // every answer at its limit
}

// MarshalJSON writes dollars; null if unknown.
func (c Cost) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File     string     `json:"file"`
		Provider string     `json:"provider"`
		Model    string     `json:"model"`
		Mode     assay.Mode `json:"mode"`
		Requests int64      `json:"requests"`
		Expected *float64   `json:"expected_usd"`
		High     *float64   `json:"most_usd"`
	}{c.File, c.Provider, c.Model, c.Mode, c.Requests, c.Expected.Dollars(), c.High.Dollars()})
}

// Estimate returns what the models of a file may cost.
func Estimate(name string, file *batchfile.File) []Cost {
	var out []Cost
	for _, l := range file.Lanes {
		out = append(out, Cost{File: name, Provider: file.Provider, Model: l.Model, Mode: file.Mode, Requests: l.Requests,
			Expected: l.Expected, High: l.High})
	}
	return out
}

// Expected returns what a run was expected to cost before it was sent, and the most: every answer at its limit.
func Expected(run store.Run) (expected, high assay.Cost, err error) {
	b, err := of(run)
	for _, l := range b.File.Lanes {
		expected, high = expected.Add(l.Expected), high.Add(l.High)
	}
	return expected, high, err
}
