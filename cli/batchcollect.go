package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/batchrun"
	"assay/provider"
	"assay/store"
)

type collectFlags struct {
	home    homeFlags
	reach   reachFlags
	output  string
	format  string
	partial bool
	force   bool
	rehears bool
}

func batchCollectCommand(w *World) *cobra.Command {
	var f collectFlags
	c := &cobra.Command{
		Use:   "collect [BATCH]",
		Short: "Write the results of a batch in the order of its file, errors beside them",
		Long: "Fetches what is ready and writes it in the order of the file, under the ids of the file.\n" +
			"--format provider (default) keeps the provider's own result lines; requests without an answer go to NAME.errors.jsonl beside them.\n" +
			"--format jsonl and csv write one flat row for every line of the file, with its status, text, tokens, cost and error.\n" +
			"--partial takes what is there now; without it a batch that is not done is left alone.",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("one after the other", "assay batch collect does not take %q", args[1])
			}
			return collectBatch(c.Context(), w, args, f)
		},
	}
	f.home.register(c)
	f.reach.registerPlace(c, "where to look for a job that was made elsewhere")
	c.Flags().StringVarP(&f.output, "output", "o", "", "the file to write; - for standard output (default: NAME.results.jsonl or .csv)")
	c.Flags().StringVar(&f.format, "format", "provider", "provider, jsonl or csv")
	c.Flags().BoolVar(&f.partial, "partial", false, "write what is there now")
	c.Flags().BoolVar(&f.force, "force", false, "write over a file that is there")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "of a rehearsal")
	return c
}

func collectBatch(ctx context.Context, w *World, args []string, f collectFlags) error {
	if f.format != "provider" && f.format != "jsonl" && f.format != "csv" {
		return usage("provider, jsonl or csv", "--format: there is no format %q", f.format)
	}
	h, err := f.home.open(ctx, w, f.rehears)
	if err != nil {
		return err
	}
	defer h.Close()
	refs, err := findBatches(ctx, w, h, args, f.reach)
	if err != nil {
		return err
	}
	if len(refs.foreign) > 0 {
		return collectForeign(ctx, w, refs.foreign[0], f)
	}
	if len(refs.runs) > 1 {
		return usage("name one of them", "%d batches are open", len(refs.runs))
	}
	run := refs.runs[0]
	out, err := f.outputs(w, run.Study)
	if err != nil {
		return err
	}
	if run, err = fetchNow(ctx, w, h, run, f); err != nil {
		return err
	}
	return writeResults(ctx, w, h, run, out, f)
}

// outputs are the names to write: results, and errors beside them.
type outputs struct{ results, errors string }

func (f collectFlags) outputs(w *World, file string) (outputs, error) {
	suffix := ".jsonl"
	if f.format == "csv" {
		suffix = ".csv"
	}
	out := outputs{results: f.output}
	if out.results == "" {
		out.results = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".results" + suffix
	}
	if out.results == "-" {
		return out, nil
	}
	if f.format == "provider" {
		out.errors = strings.TrimSuffix(out.results, filepath.Ext(out.results)) + ".errors.jsonl"
	}
	for _, name := range []string{out.results, out.errors} {
		if name != "" && !f.force && w.Disk.Exists(name) {
			return out, usage("--force writes over it, --output names another", "%s is there already", name)
		}
	}
	return out, nil
}

// fetchNow brings here what is ready. A batch that is not done is an error without --partial.
func fetchNow(ctx context.Context, w *World, h *home, run store.Run, f collectFlags) (store.Run, error) {
	if run.State == store.RunClosed {
		return run, nil
	}
	if !h.rehearsal {
		if err := orderBatch(ctx, w, h, run, store.Order{Kind: store.OrderCollect}); err != nil {
			return run, err
		}
	}
	run, err := h.ledger.Run(ctx, run.No)
	if err != nil || run.State == store.RunClosed {
		return run, err
	}
	if !f.partial {
		rows, err := runRows(ctx, h, run)
		if err != nil {
			return run, err
		}
		var done, all int64
		for _, r := range rows {
			done, all = done+r.done, all+r.requests
		}
		return run, &exitError{code: exitIncomplete, err: fmt.Errorf("batch %s is not done: %s of %s requests have come back", run.ID, assay.Thousands(done), assay.Thousands(all)),
			hint: "assay batch watch " + run.ID + " stays with it, --partial takes what is there"}
	}
	return run, tellSilent(ctx, w, h, run)
}

// tellSilent names the jobs whose provider shows nothing before the end.
func tellSilent(ctx context.Context, w *World, h *home, run store.Run) error {
	running, err := h.ledger.Segments(ctx, run.No, store.Launched)
	if err != nil {
		return err
	}
	for _, g := range running {
		if g.Mode == store.Batch && g.Done() == 0 {
			fmt.Fprintf(w.Stderr, "%s hands out nothing of job %s before it ends (%s)\n", g.Provider, g.Job, word(g))
		}
	}
	return nil
}

// writeResults writes the files, each whole or not at all, and says what they hold.
func writeResults(ctx context.Context, w *World, h *home, run store.Run, out outputs, f collectFlags) error {
	results, err := newOutput(w, out.results)
	if err != nil {
		return err
	}
	defer results.discard()
	failed, err := newOutput(w, out.errors)
	if err != nil {
		return err
	}
	defer failed.discard()
	c, err := newCollector(h, run, f.format, results, failed)
	if err != nil {
		return err
	}
	defer c.close()
	for a, err := range batchrun.Answers(ctx, h.ledger.Reader, run.No) {
		if err != nil {
			return err
		}
		if err := c.add(ctx, a); err != nil {
			return err
		}
	}
	if err := c.finish(ctx); err != nil {
		return err
	}
	if err := errors.Join(results.commit(), failed.commit()); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s: %s answers in %s", run.ID, assay.Thousands(c.answers), out.results)
	if c.failures > 0 && out.errors != "" {
		fmt.Fprintf(w.Stderr, ", %s without one in %s", assay.Thousands(c.failures), out.errors)
	} else if c.failures > 0 {
		fmt.Fprintf(w.Stderr, ", %s without one", assay.Thousands(c.failures))
	}
	if c.open > 0 {
		fmt.Fprintf(w.Stderr, ", %s not back yet", assay.Thousands(c.open))
	}
	fmt.Fprintln(w.Stderr)
	switch {
	case c.open > 0:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("%s of batch %s have no answer yet", assay.Count(c.failures+c.open, "request"), run.ID),
			hint: "assay batch watch " + run.ID + " stays with it"}
	case c.failures > 0:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("%s of batch %s have no answer", assay.Count(c.failures, "request"), run.ID),
			hint: "assay batch errors " + run.ID + " tells why, assay batch retry " + run.ID + " sends them again"}
	}
	return nil
}

// collectForeign fetches the results of a job that was made elsewhere, as they are: its order and ids are its maker's.
func collectForeign(ctx context.Context, w *World, j foreignJob, f collectFlags) error {
	if f.format != "provider" {
		return usage("--format provider", "job %s was made elsewhere: only its own lines are known", j.status.Job)
	}
	if !j.status.State.Terminal() && !f.partial {
		return &exitError{code: exitIncomplete, err: fmt.Errorf("job %s is not done: %s", j.status.Job, j.status.Word), hint: "--partial takes what is there"}
	}
	if len(j.status.Parts) == 0 {
		return &exitError{code: exitIncomplete, err: fmt.Errorf("%s hands out nothing of job %s (%s)", j.target.Name, j.status.Job, j.status.Word)}
	}
	out, err := f.outputs(w, filepath.Base(j.status.Job)+".jsonl")
	if err != nil {
		return err
	}
	for _, kind := range []provider.PartKind{provider.PartResults, provider.PartErrors} {
		name := out.results
		if kind == provider.PartErrors {
			name = out.errors
		}
		if err := fetchParts(ctx, w, j, kind, name); err != nil && j.status.State != provider.StateEnded {
			return &exitError{code: exitIncomplete, err: fmt.Errorf("%s hands out nothing of job %s (%s): %w", j.target.Name, j.status.Job, j.status.Word, err)}
		} else if err != nil {
			return err
		}
	}
	fmt.Fprintf(w.Stderr, "job %s: results in %s\n", j.status.Job, out.results)
	return nil
}

func fetchParts(ctx context.Context, w *World, j foreignJob, kind provider.PartKind, name string) error {
	file, err := newOutput(w, name)
	if err != nil {
		return err
	}
	defer file.discard()
	for _, p := range j.status.Parts {
		if (p.Kind == provider.PartErrors) != (kind == provider.PartErrors) {
			continue
		}
		job := provider.Job{ID: j.status.Job, Model: j.status.Model}
		if err := j.access.Batch.Fetch(ctx, job, p, provider.Fresh(file)); err != nil {
			return fmt.Errorf("fetch %s: %w", p.Name, err)
		}
	}
	return file.commit()
}

// output is a file that appears only when it is whole; without a name it takes nothing, and - is standard output.
type output struct {
	io.Writer
	file *os.File
	name string
	n    int64
}

func newOutput(w *World, name string) (*output, error) {
	switch name {
	case "":
		return &output{Writer: io.Discard}, nil
	case "-":
		return &output{Writer: w.Stdout}, nil
	}
	full := w.Disk.Path(name)
	f, err := w.Disk.Create(full+".part", os.O_TRUNC)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &output{Writer: f, file: f, name: full}, nil
}

// Write counts what is written.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.n += int64(n)
	return n, err
}

// commit gives the file its name. An empty file of errors would say that there are some: it is not made.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if o.n == 0 && strings.HasSuffix(o.name, ".errors.jsonl") {
		_ = os.Remove(o.name) // of an earlier collect, which is not true any more
		return os.Remove(f.Name())
	}
	return os.Rename(f.Name(), o.name)
}

// discard takes away a file that did not become whole.
func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
