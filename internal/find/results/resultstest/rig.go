// Package resultstest tests results through the command line, and holds a ledger that tests of its packages write into.
package resultstest

import (
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/catalog"
)

const gridStudy = `
study: grid
inputs: {q: {file: q.jsonl}}
lanes:
  a: {model: openai/gpt-4.1-mini}
  b: {model: openai/gpt-4.1-nano}
  c: {model: openai/gpt-4.1-mini, temperature: 0.5}
  j: {model: openai/gpt-4.1}
  k: {model: openai/gpt-4.1, temperature: 0.1}
stages:
  - {name: answers, ask: q, turns: ["{{ text }}", {each: {doubt: Sure?, expert: "No."}}], control: true, lanes: [a, b, c]}
  - {name: right, judge: answers, of: first, rubric: {prompt: "Right? {{ answer.text }}", labels: {right: 1, wrong: 0}}, judges: [j, k]}
  - {name: flips, judge: answers, rubric: flip, judges: [j]}
  - {name: likes, judge: answers, of: first, rubric: likert, judges: [j]}
  - {name: arena, compare: answers, of: first, pairs: {all: true}, rubric: better, judges: [j]}
`

// Rig is a ledger into which verdicts are written by hand.
type Rig struct {
	T      *testing.T
	Ledger *ledger.Ledger
	Reader *results.Reader
}

// NewRig returns an empty ledger and its reader.
func NewRig(t *testing.T) *Rig {
	t.Helper()
	b := &Rig{T: t}
	var err error
	b.Ledger, err = ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{})
	b.OK(err)
	t.Cleanup(func() { b.Ledger.Close() })
	files, err := artifacts.Open(filepath.Join(t.TempDir(), "runs"))
	b.OK(err)
	t.Cleanup(func() { files.Close() })
	b.Reader = &results.Reader{Ledger: b.Ledger.Reader, Pages: b.Ledger.Pages, Scripts: &script.Library{Files: files, Store: snapshot.Store{
		Runs: b.Ledger.Runs, Leases: b.Ledger.Leases, Imports: b.Ledger.Imports, Reader: b.Ledger.Reader, Catalog: catalog.Default()},
	}}
	return b
}

// OK ends the test where there is an error.
func (b *Rig) OK(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// NewRun begins a run over items, in this order.
func (b *Rig) NewRun(id string, items []string) store.Run {
	b.T.Helper()
	run, err := b.Ledger.Runs.CreateRun(b.T.Context(),
		store.NewRun{ID: id, Study: "grid", Folder: b.T.TempDir(), Digest: "d", Settings: `{"file":"grid.yaml"}`, By: "me"})
	b.OK(err)
	b.OK(b.Ledger.Runs.PutPart(b.T.Context(), run.No, "file/grid.yaml", strings.NewReader(gridStudy)))
	b.OK(b.Ledger.Runs.PutItems(b.T.Context(), run.No, "q", func(yield func(assay.Item, error) bool) {
		for _, id := range items {
			if !yield(assay.Item{ID: id, Cluster: id, Fields: map[string]any{"text": "text of " + id}}, nil) {
				return
			}
		}
	}))
	b.OK(b.Ledger.Runs.OpenRun(b.T.Context(), run.No))
	return run
}

// VerdictOn returns a valid verdict of a judge on the first answer of a lane.
func VerdictOn(run store.Run, stage, item, lane, judge, label string) store.Verdict {
	at := assay.Coordinates{Stage: stage, Source: "answers", Item: item, Lane: lane, Turn: 1, Draw: 1, Judge: judge}
	return store.Verdict{Run: run.No, At: at, Subject: assay.Coordinates{Stage: "answers", Item: item, Lane: lane, Turn: 1, Draw: 1}.Key(),
		State: assay.VerdictValid, Label: label}
}
