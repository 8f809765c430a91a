package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
)

// The tables of an export, by name.
const (
	answersTable  = "answers"
	verdictsTable = "verdicts"
	itemsTable    = "items"
	findingsTable = "findings"
)

// tables returns the format of our own tables in one form.
func tables(f table.Form) export.Format {
	return export.Format{
		Name: string(f), Import: string(f),
		Write: func(ctx context.Context, t *folder.Tree, runs []export.Run) error {
			return writeTables(ctx, t, f, runs)
		},
		WriteFile: func(ctx context.Context, w io.Writer, runs []export.Run) error {
			return writeRows(ctx, w, f, runs, (*rows.Reader).All)
		},
		Read: func(ctx context.Context, from export.From, to *export.Sink) error {
			return readTables(ctx, f, from, to)
		},
	}
}

// writeTables writes all rows of runs: answers, verdicts, items and findings.
func writeTables(ctx context.Context, t *folder.Tree, f table.Form, runs []export.Run) error {
	if err := writeTable(ctx, t, answersTable, f, runs, (*rows.Reader).All); err != nil {
		return err
	}
	if err := writeTable(ctx, t, verdictsTable, f, runs, (*rows.Reader).Verdicts); err != nil {
		return err
	}
	if err := writeTable(ctx, t, itemsTable, f, runs, (*rows.Reader).Items); err != nil {
		return err
	}
	return writeTable(ctx, t, findingsTable, f, runs, func(of *rows.Reader, ctx context.Context) iter.Seq2[*findings.Finding, error] {
		return findings.FindingRows(ctx, of)
	})
}

// rowsOf walks over one kind of rows of a run.
type rowsOf[T any] func(*rows.Reader, context.Context) iter.Seq2[*T, error]

func writeTable[T any](ctx context.Context, t *folder.Tree, name string, f table.Form, runs []export.Run, rows rowsOf[T]) error {
	file, err := t.Create(name + "." + string(f))
	if err != nil {
		return err
	}
	return errors.Join(writeRows(ctx, file, f, runs, rows), file.Close())
}

func writeRows[T any](ctx context.Context, w io.Writer, f table.Form, runs []export.Run, rows rowsOf[T]) error {
	table, err := table.NewTable[T](f, w)
	if err != nil {
		return err
	}
	for _, r := range runs {
		of, err := r.Rows(ctx)
		if err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
		for row, err := range rows(of, ctx) {
			if err == nil {
				err = table.Write(row)
			}
			if err != nil {
				return fmt.Errorf("export run %s: %w", r.ID, err)
			}
		}
	}
	return table.Close()
}

// readTables reads our own tables. A table of another program needs the columns item, lane and text alone.
func readTables(ctx context.Context, f table.Form, from export.From, to *export.Sink) error {
	names := map[string]string{answersTable: from.File}
	if from.File == "" {
		for _, table := range []string{answersTable, verdictsTable, itemsTable} {
			name := table + "." + string(f)
			if info, err := fs.Stat(from.Files, name); err == nil && info.Mode().IsRegular() {
				names[table] = name
			}
		}
	}
	if names[answersTable] == "" {
		return export.ErrNothing
	}
	r := &tableReader{Sink: to, run: from.Run, given: from.Run != "", nested: names[verdictsTable] == "", lane: from.Lane,
		file: names[answersTable]}
	var columns table.Names
	if from.File != "" {
		var err error
		if columns, r.collected, err = columnsIn(ctx, f, from); err != nil {
			return err
		}
	}
	if err := readTable(ctx, f, from.Files, names[itemsTable], nil, to.Bad, r.itemRow); err != nil {
		return err
	}
	if err := readTable(ctx, f, from.Files, names[answersTable], columns, to.Bad, r.answerRow); err != nil {
		return err
	}
	return readTable(ctx, f, from.Files, names[verdictsTable], nil, to.Bad, r.verdictRow)
}

// readTable hands the rows of a table on; a table without a name has none.
func readTable[T any](ctx context.Context, f table.Form, files fs.FS, name string, columns table.Names, bad table.Report,
	take func(*T) error) error {
	if name == "" {
		return nil
	}
	for row, err := range table.RowsAs[T](ctx, f, files, name, columns, bad) {
		if err == nil {
			err = take(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type tableReader struct {
	*export.Sink
	run    string
	given  bool
	nested bool // verdicts are in the rows of answers alone

	file, lane string // of answers: the table, and the lane of rows that name none
	collected  bool   // the table is one of `assay batch collect`
}

// ours reports whether a row belongs to the run that is read.
func (r *tableReader) ours(run string) (bool, error) {
	if r.run == "" {
		r.run = run
	}
	if run == r.run || run == "" {
		return true, nil
	}
	if r.given {
		return false, nil
	}
	return false, fmt.Errorf("%w: %s and %s", export.ErrRuns, r.run, run)
}

func (r *tableReader) itemRow(row *rows.Item) error {
	if ok, err := r.ours(row.Run); !ok || err != nil {
		return err
	}
	return r.AddItem(row)
}

func (r *tableReader) verdictRow(row *rows.Verdict) error {
	if ok, err := r.ours(row.Run); !ok || err != nil {
		return err
	}
	row.Turn, row.Draw = max(1, row.Turn), max(1, row.Draw)
	if row.State == "" && (row.Label != "" || row.Score != nil) {
		row.State = assay.VerdictValid
	}
	return r.Verdict(row)
}

func (r *tableReader) answerRow(row *rows.Answer) error {
	if ok, err := r.ours(row.Run); !ok || err != nil {
		return err
	}
	if row.Verb == "judge" || row.Verb == "compare" {
		return r.own(row)
	}
	row.Turn, row.Draw = max(1, row.Turn), max(1, row.Draw)
	if !r.whole(row) {
		return nil
	}
	if row.Stage == "" {
		row.Stage = "answers"
	}
	if row.Input == "" {
		row.Input = "items"
	}
	if err := r.AddItem(&rows.Item{Input: row.Input, Item: row.Item, Cluster: row.Item}); err != nil {
		return err
	}
	if _, err := r.AddAnswer(row); err != nil || !r.nested {
		return err
	}
	for _, s := range row.Verdicts {
		if s.Second != "" { // a pair is in the judge's own row
			continue
		}
		err := r.Verdict(&rows.Verdict{
			At: row.JudgedIn(s.Stage), Judging: s.Judging, Vote: s.Vote, State: s.State, Label: s.Label, Score: s.Score,
			Confidence: s.Confidence, Reason: s.Reason, Try: s.Try,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whole fills in the defaults of a row, and reports whether it has all it needs. What it lacks is reported.
func (r *tableReader) whole(row *rows.Answer) bool {
	row.Lane = cmp.Or(row.Lane, r.lane)
	if row.Ending == "open" { // of a batch that is not done
		row.Ending = ""
	}
	if r.collected { // every line of the batch's file has a row
		row.Verb = "ask"
	}
	at, item := assay.Place{File: r.file}, assay.Clean(row.Item, export.MaxShown)
	switch {
	case strings.TrimSpace(row.Item) == "":
		r.Bad.At(at, "a row has no item")
	case row.Lane == "":
		r.Bad(assay.Problem{Place: at, What: fmt.Sprintf("the row of item %q names no lane", item),
			Hint: "give such rows one with --lane NAME"})
	case row.Ending != "" && row.Ending != rows.Unasked && !slices.Contains(assay.Endings(), assay.Ending(row.Ending)):
		r.Bad(assay.Problem{Place: at, What: fmt.Sprintf("the row of item %q: no ending is called %q", item,
			assay.Clean(row.Ending, export.MaxShown)), Hint: assay.ThereAre(assay.Endings())})
	default:
		return true
	}
	return false
}

// own takes the verdict on a pair from the row of the judge's request.
func (r *tableReader) own(row *rows.Answer) error {
	if !r.nested || row.Second == "" {
		return nil
	}
	at := row.At
	at.Study, at.Run, at.Key, at.Lane, at.Pair = "", "", "", "", ""
	for _, s := range row.Verdicts {
		v := &rows.Verdict{At: at, Judging: row.Judging, Vote: row.Vote, State: s.State, Label: s.Label, Score: s.Score,
			Confidence: s.Confidence, Reason: s.Reason, Try: s.Try}
		if row.Source == "" { // the two are items
			for _, id := range []string{row.First, row.Second} {
				if err := r.AddItem(&rows.Item{Input: row.Input, Item: id, Cluster: id}); err != nil {
					return err
				}
			}
		}
		if err := r.Verdict(v); err != nil {
			return err
		}
	}
	return nil
}
