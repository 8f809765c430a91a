package studyfolder

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
	"assay/internal/send/script/stages"
	"assay/internal/show/export"
	"assay/internal/show/export/table"
)

// verdictBlock is how many verdicts are written at once.
const verdictBlock = 500

// Load writes the verdicts of the folder of a study into the ledger, as those of a run that was made from it. A verdict
// that has no place in the study is noted and left out.
func Load(ctx context.Context, scripts *script.Library, run store.Run, folder fs.FS, bad table.Report) error {
	l := &loader{Library: scripts, run: run, bad: bad, stages: map[string]*people.Stage{}}
	return export.InBlocks(l.verdicts(ctx, folder), verdictBlock, func(block []store.Verdict) error { return l.add(ctx, block) })
}

type loader struct {
	*script.Library
	run    store.Run
	bad    table.Report
	stages map[string]*people.Stage
}

// verdicts walks over the verdicts of a folder, each in its place.
func (l *loader) verdicts(ctx context.Context, folder fs.FS) iter.Seq2[store.Verdict, error] {
	return func(yield func(store.Verdict, error) bool) {
		for row, err := range table.Rows[rows.Verdict](ctx, table.JSONL, folder, VerdictsFile, l.bad) {
			if err != nil {
				yield(store.Verdict{}, err)
				return
			}
			stage, ok := l.stages[row.Stage]
			if !ok {
				if stage, err = l.People(ctx, l.run, row.Stage); err != nil {
					yield(store.Verdict{}, err)
					return
				}
				l.stages[row.Stage] = stage
			}
			v, err := stage.Foreign(made(row))
			if !slices.Contains(assay.VerdictStates(), row.State) {
				err = fmt.Errorf("there is no state %q", row.State)
			}
			if err != nil {
				l.bad.At(assay.Place{}, "verdict of %s on %s: %s", row.Judge, cmp.Or(row.Item, row.First), err)
				continue
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (l *loader) add(ctx context.Context, block []store.Verdict) error {
	if len(block) == 0 {
		return nil
	}
	n, err := l.Runs.AddVerdicts(ctx, block)
	if err != nil {
		return err
	}
	if n < int64(len(block)) {
		l.bad.At(assay.Place{}, "%s said what another had said before", assay.Count(int64(len(block))-n, "verdict"))
	}
	return nil
}

// further returns how often the same was asked before a verdict: which of several further tries it was is not in its row.
func further(row *rows.Verdict) int {
	if row.SecondTry {
		return 1
	}
	return 0
}

// made returns a row as a verdict that was made elsewhere.
func made(row *rows.Verdict) stages.Foreign {
	v := stages.Foreign{
		Source: row.Source, Item: row.Item, Lane: row.Lane, First: row.First, Second: row.Second, Template: row.Template,
		Prompt: row.Prompt, Trait: row.Trait, Branch: row.Branch, Turn: int(row.Turn), Draw: int(row.Draw), Vote: int(row.Vote),
		Judge: row.Judge, Again: further(row), By: row.Fallback,
		Verdict: assay.Verdict{State: row.State, Label: row.Label, Score: row.Score, Explanation: row.Reason, Fields: []byte(row.Fields)},
	}
	if row.Confidence != nil && row.Fields == "" {
		v.Verdict.Fields = fmt.Appendf(nil, `{"confidence":%g}`, *row.Confidence)
	}
	if p := row.Probability; p != nil && strings.HasPrefix(row.Judge, people.Prefix) { // the draw itself is not in the files
		chosen, _ := people.ChosenAs(&store.Verdict{Fields: string(row.Fields)})
		if chosen != analysis.ChosenAdjudicated {
			chosen = analysis.ChosenDeclared
		}
		v.Verdict.Fields = fmt.Appendf(nil, `{"chosen":%q,"probability":%g}`, chosen, *p)
	}
	return v
}
