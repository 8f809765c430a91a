package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/artifacts"
	"assay/export"
	"assay/results"
	"assay/store"
	"assay/study"
)

type bundleFlags struct {
	home    homeFlags
	out     string
	replace bool
}

func bundleCommand(w *World) *cobra.Command {
	var f bundleFlags
	c := &cobra.Command{
		Use:     "bundle [RUN] --out FILE",
		GroupID: groupDecide,
		Short:   "Put one run into one file that gives the same digits anywhere",
		Long: "Writes the study, the items, the answers, the verdicts and the gold labels of a run into one file. `assay analyse FILE`, `results FILE`, `export FILE`,\n" +
			"`spend FILE` and `diff FILE RUN` read it in place of a run, on any machine and without keys. No key, no account, no path and no user of\n" +
			"this machine is in it; the raw bytes of providers are not either. A bundle of which one byte was changed is refused.",
		Args: upTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return runBundle(c.Context(), w, firstOf(args), f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write, such as results.assay")
	c.Flags().BoolVar(&f.replace, "replace", false, "replace a file of this name")
	return c
}

func runBundle(ctx context.Context, w *World, ref string, f bundleFlags) error {
	if f.out == "" {
		return usage("a file, such as --out results.assay", "--out is missing")
	}
	h, run, err := f.home.find(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	file, err := export.NewFile(w.Disk.Path(f.out), export.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer file.Abort()
	m := export.Manifest{Run: run.ID, Study: run.Study, Rehearsal: run.Rehearsal, Created: run.Created.UTC().Format(time.RFC3339)}
	err = export.WriteBundle(file, m, func(table string) iter.Seq2[store.DumpRow, error] { return dumped(ctx, h, run, table) })
	if err != nil {
		return fmt.Errorf("bundle run %s: %w", run.ID, err)
	}
	if err := file.Commit(); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "run %s of %s is in %s\n", run.ID, run.Study, f.out)
	return nil
}

// dumped is a table of a run; texts that are too long for the ledger are put into their rows.
func dumped(ctx context.Context, h *home, run store.Run, table string) iter.Seq2[store.DumpRow, error] {
	rows := h.ledger.Dump(ctx, run.No, table)
	switch table {
	case "outcomes":
	case "snapshot_parts":
		return withGold(ctx, h, run, rows)
	default:
		return rows
	}
	return func(yield func(store.DumpRow, error) bool) {
		for row, err := range rows {
			if err == nil {
				err = lengthen(ctx, h, run, row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// withGold adds the gold labels as they are now: nobody else has the run's folder.
func withGold(ctx context.Context, h *home, run store.Run, rows iter.Seq2[store.DumpRow, error]) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		var columns []string
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
			columns = row.Columns
		}
		st, err := h.planner.Study(ctx, run)
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
			text, err := readGold(ctx, h, run, s)
			if errors.Is(err, fs.ErrNotExist) {
				continue // they may never have come
			}
			values := map[string]any{"run_no": run.No, "name": results.GoldPart + s.Gold, "chunk": int64(0), "bytes": text}
			row := store.DumpRow{Columns: columns}
			for _, c := range columns {
				row.Values = append(row.Values, values[c])
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func readGold(ctx context.Context, h *home, run store.Run, st *study.Stage) ([]byte, error) {
	f, err := h.results().OpenGold(ctx, run, st)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// lengthen puts the whole text into the row of an outcome.
func lengthen(ctx context.Context, h *home, run store.Run, row store.DumpRow) error {
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
	found, err := h.ledger.AnswersTo(ctx, run.No, []assay.Key{key})
	if err != nil {
		return err
	}
	a := found[key]
	row.Values[at["over"]] = int64(0)
	if row.Values[at["segment_no"]] != a.Segment || row.Values[at["ord"]] != a.Ord {
		return nil // not the one that stands
	}
	if a, err = h.planner.Whole(ctx, run, a); err != nil {
		return err
	}
	row.Values[at["text"]], row.Values[at["thoughts"]] = a.Outcome.Text, a.Outcome.Thoughts
	return nil
}

// openBundle makes a ledger out of a bundle, in a folder that goes away when the home is closed.
func openBundle(ctx context.Context, w *World, name string) (*home, store.Run, error) {
	b, err := export.OpenBundle(name)
	if err != nil {
		hint := "ask for it again, or make it anew: assay bundle RUN --out FILE"
		if errors.Is(err, export.ErrNotBundle) {
			hint = "assay bundle RUN --out FILE makes one; a RUN is an id or a study's name"
		}
		return nil, store.Run{}, &exitError{code: exitUsage, err: err, hint: hint}
	}
	defer b.Close()
	dir, err := os.MkdirTemp("", "assay-bundle-")
	if err != nil {
		return nil, store.Run{}, fmt.Errorf("unpack bundle: %w", err)
	}
	h, run, err := unpack(ctx, w, b, dir)
	if err != nil {
		return nil, run, errors.Join(fmt.Errorf("unpack bundle %s: %w", name, err), os.RemoveAll(dir))
	}
	return h, run, nil
}

func unpack(ctx context.Context, w *World, b *export.Bundle, dir string) (*home, store.Run, error) {
	where := filepath.Join(dir, "ledger.db")
	ledger, err := store.Open(ctx, where, store.Options{Now: w.Now})
	if err != nil {
		return nil, store.Run{}, err
	}
	for _, table := range store.DumpTables() {
		if err := ledger.Restore(ctx, table, b.Rows(table)); err != nil {
			return nil, store.Run{}, errors.Join(err, ledger.Close())
		}
	}
	run, err := ledger.FindRun(ctx, b.Manifest.Run, "")
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	return &home{ledger: ledger, files: files, planner: newPlanners(ledger, files), where: where, rehearsal: run.Rehearsal, passing: dir}, run, nil
}
