package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/show/export"
	"assay/internal/study"
)

// Write writes a run as a bundle.
func Write(ctx context.Context, w io.Writer, r export.Run) error {
	m := Manifest{Run: r.ID, Study: r.Study, Rehearsal: r.Rehearsal, Created: r.Created.UTC().Format(time.RFC3339)}
	plan, err := r.Results.Scripts.Plan(ctx, r.Run)
	if err != nil {
		return err
	}
	m.Locked = plan.Lock
	b := &bundler{r}
	return WriteTables(w, m, func(table string) iter.Seq2[store.DumpRow, error] { return b.rows(ctx, table) })
}

// Restore writes all rows of a bundle into an empty ledger, and returns its run.
func (b *Bundle) Restore(ctx context.Context, ledger *ledger.Ledger) (store.Run, error) {
	for _, table := range store.DumpTables() {
		if err := ledger.Runs.Restore(ctx, table, b.Rows(table)); err != nil {
			return store.Run{}, err
		}
	}
	return ledger.Reader.FindRun(ctx, b.Manifest.Run, "")
}

// bundler makes the rows of a bundle.
type bundler struct{ export.Run }

// rows returns a table of the run; texts that are too long for the ledger are put into their rows.
func (b *bundler) rows(ctx context.Context, table string) iter.Seq2[store.DumpRow, error] {
	rows := b.Results.Ledger.Dump(ctx, b.No, table)
	switch table {
	case "outcomes":
		return b.whole(ctx, rows)
	case "snapshot_parts":
		return b.withGold(ctx, rows)
	}
	return rows
}

func (b *bundler) whole(ctx context.Context, rows iter.Seq2[store.DumpRow, error]) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		for row, err := range rows {
			if err == nil {
				err = b.lengthen(ctx, row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// lengthen puts the whole text into the row of an outcome.
func (b *bundler) lengthen(ctx context.Context, row store.DumpRow) error {
	at := map[string]int{}
	for i, c := range row.Columns {
		at[c] = i
	}
	if row.Values[at["over"]] != int64(1) {
		return nil
	}
	var key assay.Key
	if text, ok := row.Values[at["key"]].([]byte); ok {
		copy(key[:], text)
	}
	segment, _ := row.Values[at["segment_no"]].(int64)
	ord, _ := row.Values[at["ord"]].(int64)
	item, err := b.Results.Pages.ItemOf(ctx, segment, ord)
	if err != nil {
		return err
	}
	found, err := b.Results.Ledger.AnswersTo(ctx, b.No, []assay.Ref{{Item: item, Key: key}})
	if err != nil {
		return err
	}
	a := found[key]
	row.Values[at["over"]] = int64(0)
	if segment != a.Segment || ord != a.Ord {
		return nil // not the one that counts
	}
	if a, err = b.Results.Scripts.Whole(ctx, b.Run.Run, a); err != nil {
		return err
	}
	row.Values[at["text"]], row.Values[at["thoughts"]] = a.Outcome.Text, a.Outcome.Thoughts
	return nil
}

// withGold adds the gold labels as they are now: another machine does not have the run's folder.
func (b *bundler) withGold(ctx context.Context, rows iter.Seq2[store.DumpRow, error]) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		var columns []string
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
			columns = row.Columns
		}
		st, err := b.Results.Study(ctx, b.Run.Run)
		if err != nil {
			yield(store.DumpRow{}, err)
			return
		}
		taken := map[string]bool{}
		for i := range st.Stages {
			s := &st.Stages[i]
			if s.Gold == "" || taken[s.Gold] {
				continue
			}
			taken[s.Gold] = true
			row, err := b.goldRow(ctx, s, columns)
			if errors.Is(err, fs.ErrNotExist) {
				continue // they may never have come
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// goldRow returns the row that holds the gold labels of a stage.
func (b *bundler) goldRow(ctx context.Context, st *study.Stage, columns []string) (store.DumpRow, error) {
	f, err := findings.OpenGold(ctx, b.Results, b.Run.Run, st)
	if err != nil {
		return store.DumpRow{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return store.DumpRow{}, fmt.Errorf("read gold labels: %w", err)
	}
	values := map[string]any{"run_no": b.No, "name": findings.GoldPart + st.Gold, "chunk": int64(0), "bytes": text}
	row := store.DumpRow{Columns: columns}
	for _, c := range columns {
		row.Values = append(row.Values, values[c])
	}
	return row, nil
}
