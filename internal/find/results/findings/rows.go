package findings

import (
	"context"
	"iter"
	"strings"

	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
)

// Finding is one finding: one row of the table of findings. What is not there is nil or empty, and Why gives the
// reason.
type Finding struct {
	Study      string   `json:"study" parquet:"study,dict"`
	Run        string   `json:"run" parquet:"run,dict"`
	Rehearsal  bool     `json:"rehearsal" parquet:"rehearsal"`
	Stage      string   `json:"stage" parquet:"stage,dict"`
	Title      string   `json:"title" parquet:"title,dict"`
	Method     string   `json:"method" parquet:"method,dict"`
	People     bool     `json:"people" parquet:"people"` // it is about people's labels
	What       string   `json:"what" parquet:"what,dict"`
	Lane       string   `json:"lane" parquet:"lane,dict"` // empty: it is grouped by something else
	By         rows.Raw `json:"by" parquet:"by,dict"`     // all that it is grouped by, as a JSON object
	Unit       string   `json:"unit" parquet:"unit,dict"`
	Value      *float64 `json:"value" parquet:"value,optional"`
	Low        *float64 `json:"low" parquet:"low,optional"`
	High       *float64 `json:"high" parquet:"high,optional"`
	SE         *float64 `json:"se" parquet:"se,optional"`
	Level      float64  `json:"level" parquet:"level"`
	N          int64    `json:"n" parquet:"n"`
	Clusters   int64    `json:"clusters" parquet:"clusters"`
	Coverage   *float64 `json:"coverage" parquet:"coverage,optional"`
	Incomplete bool     `json:"incomplete" parquet:"incomplete"`
	P          *float64 `json:"p" parquet:"p,optional"`
	Holm       *float64 `json:"p_holm" parquet:"p_holm,optional"`
	Rank       *int64   `json:"rank" parquet:"rank,optional"`
	Wins       *int64   `json:"wins" parquet:"wins,optional"`
	Ties       *int64   `json:"ties" parquet:"ties,optional"`
	Losses     *int64   `json:"losses" parquet:"losses,optional"`
	Counts     rows.Raw `json:"counts" parquet:"counts"`          // of labels and the like, as a JSON object
	Margin     *float64 `json:"margin" parquet:"margin,optional"` // of no-worse
	Verdict    string   `json:"verdict" parquet:"verdict,dict"`   // of no-worse
	Primary    bool     `json:"primary" parquet:"primary"`
	Words      string   `json:"words" parquet:"words"`
	Notes      string   `json:"notes" parquet:"notes"`
	Why        string   `json:"why" parquet:"why"`
}

// FindingRows returns the rows of all findings of the run, as `analyse` computes them; none of a run without a study.
func FindingRows(ctx context.Context, t *rows.Reader) iter.Seq2[*Finding, error] {
	return func(yield func(*Finding, error) bool) {
		if len(t.Study.Stages) == 0 {
			return
		}
		all, err := Of(ctx, t.Reader, t.Run, Query{})
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range all.Report.Tables {
			table := tableOf(&all.Report.Tables[i])
			for _, f := range table.Findings {
				row, err := findingRow(t.Run, &table, &f)
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

func findingRow(run store.Run, table *TableJSON, f *FindingJSON) (*Finding, error) {
	row := &Finding{
		Study: run.Study, Run: run.ID, Rehearsal: run.Rehearsal, Stage: table.Stage, Title: table.Title, Method: table.Method,
		People: table.People, What: f.What, Lane: f.By["lane"], Unit: f.Unit, Value: f.Value, Low: f.Low, High: f.High, SE: f.SE,
		Level: f.Level, N: int64(f.N), Clusters: int64(f.Clusters), Coverage: f.Coverage.Share, Incomplete: f.Coverage.Share == nil ||
			table.Incomplete, P: f.P, Holm: f.Holm, Margin: f.Margin, Verdict: f.Verdict,
		Primary: f.Primary, Words: f.Words, Notes: strings.Join(f.Notes, "; "), Why: f.Why,
	}
	number := func(n int) *int64 { long := int64(n); return &long }
	if f.Rank != nil {
		row.Rank = number(f.Rank.Rank)
	}
	if f.Record != nil {
		row.Wins, row.Ties, row.Losses = number(f.Record.Wins), number(f.Record.Ties), number(f.Record.Losses)
	}
	var err error
	if row.By, err = rows.RawJSON(f.By, len(f.By)); err != nil {
		return nil, err
	}
	row.Counts, err = rows.RawJSON(f.Counts, len(f.Counts))
	return row, err
}
