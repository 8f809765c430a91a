package export

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"time"

	"assay/internal/show/export/folder"
)

// Mark describes the folder of an export.
type Mark struct {
	Format string      `json:"format"`
	Runs   []MarkedRun `json:"runs"`
}

// MarkedRun is one run of a folder.
type MarkedRun struct {
	Run       string `json:"run"`
	Study     string `json:"study"`
	Rehearsal bool   `json:"rehearsal"`
	State     string `json:"state"`
	Result    string `json:"result"` // empty: still open
	Created   string `json:"created"`
	Note      string `json:"note"`

	Analyses []Analysis `json:"analyses"` // those that the study declares
}

// Analysis is an analysis that a study declares.
type Analysis struct {
	Of      string   `json:"of"`
	Method  string   `json:"method,omitempty"`
	By      []string `json:"by,omitempty"`
	Where   string   `json:"where,omitempty"`
	Primary bool     `json:"primary,omitempty"`

	With      string   `json:"with,omitempty"`
	Ridge     float64  `json:"ridge,omitempty"`
	Firth     bool     `json:"firth,omitempty"`
	K         float64  `json:"k,omitempty"`
	Start     *float64 `json:"start,omitempty"`
	Orders    int      `json:"orders,omitempty"`
	Bootstrap int      `json:"bootstrap,omitempty"`
	Seed      uint64   `json:"seed,omitempty"`
	Level     float64  `json:"level,omitempty"`
}

// WriteMark writes what a folder holds into it.
func WriteMark(ctx context.Context, t *folder.Tree, format string, runs []Run) error {
	mark := Mark{Format: format}
	for _, r := range runs {
		one := MarkedRun{
			Run: r.ID, Study: r.Study, Rehearsal: r.Rehearsal, State: string(r.State), Result: string(r.Result),
			Created: r.Created.UTC().Format(time.RFC3339), Note: r.Note, Analyses: []Analysis{},
		}
		st, err := r.Results.Study(ctx, r.Run)
		if err != nil {
			return err
		}
		for _, a := range st.Analyses {
			one.Analyses = append(one.Analyses, Analysis{Of: a.Of, Method: a.Method, By: a.By.List, Where: a.Filter.Source,
				Primary: a.Primary, With: a.With, Ridge: a.Ridge, Firth: a.Firth, K: a.K, Start: a.Start, Orders: a.Orders,
				Bootstrap: a.Bootstrap, Seed: a.Seed, Level: a.Level})
		}
		mark.Runs = append(mark.Runs, one)
	}
	return t.WriteJSON(folder.MarkFile, mark)
}

// ReadMark returns the mark of an export; of any other folder, the zero value.
func ReadMark(files fs.FS) (mark Mark) {
	text, err := ReadDocument(files, folder.MarkFile)
	if err != nil || json.Unmarshal(text, &mark) != nil {
		return Mark{}
	}
	return mark
}

// Rehearsed reports whether a folder is the export of a rehearsal, which never becomes a run like any other.
func (m Mark) Rehearsed() bool {
	return slices.ContainsFunc(m.Runs, func(r MarkedRun) bool { return r.Rehearsal })
}

// Analyses returns those that the study of a run declares, where the folder holds one run or it is named.
func (m Mark) Analyses(run string) []Analysis {
	for _, r := range m.Runs {
		if r.Run == run || run == "" && len(m.Runs) == 1 {
			return r.Analyses
		}
	}
	return nil
}
