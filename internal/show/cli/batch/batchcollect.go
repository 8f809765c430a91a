package batch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/provider"
	"assay/internal/show/cli/shell"
)

type collectFlags struct {
	home    shell.HomeFlags
	reach   shell.ReachFlags
	output  string
	format  string
	partial bool
	force   bool
	rehears bool
}

func batchCollectCommand(w *shell.World) *cobra.Command {
	var f collectFlags
	c := &cobra.Command{
		Use:   "collect [BATCH]",
		Short: "Write the results of a batch in the order of its file, errors beside them",
		Long: "Fetches what is ready and writes it in the order of the file, under the ids of the file.\n" +
			"--format provider (default) keeps the provider's own result lines; requests without an answer go to NAME.errors.jsonl " +
			"beside them.\n" +
			"--format jsonl and csv write one flat row for every line of the file, with its status, text, tokens, cost and error.\n" +
			"--partial takes what is there now; without it a batch that is not done is left alone. Nothing is sent in either case: " +
			"`assay resume` sends what has not gone out.",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return shell.Usage("one after the other", "assay batch collect does not take %q", args[1])
			}
			return collectBatch(c.Context(), w, args, f)
		},
	}
	f.home.Register(c)
	f.reach.RegisterPlace(c, "where to look for a job that was made elsewhere")
	c.Flags().StringVarP(&f.output, "output", "o", "", "the file to write; - for standard output (default: NAME.results.jsonl or .csv)")
	f.format = "provider"
	shell.Choice(c, &f.format, "format", []string{"provider", "jsonl", "csv"}, "provider, jsonl or csv")
	c.Flags().BoolVar(&f.partial, "partial", false, "write what is there now")
	c.Flags().BoolVar(&f.force, "force", false, "write over a file that is there")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "of a rehearsal")
	return c
}

func collectBatch(ctx context.Context, w *shell.World, args []string, f collectFlags) error {
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, f.rehears)
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
		return shell.Usage("name one of them", "%d batches are open", len(refs.runs))
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

func (f collectFlags) outputs(w *shell.World, file string) (outputs, error) {
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
			return out, shell.Usage("--force writes over it, --output names another", "%s is there already", name)
		}
	}
	return out, nil
}

// fetchNow brings here what is ready. A batch that is not done is an error without --partial.
func fetchNow(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f collectFlags) (store.Run, error) {
	if run.State == store.RunClosed {
		return run, nil
	}
	if !h.Rehearsal {
		if err := gather(ctx, w, h, run); err != nil {
			return run, err
		}
	}
	run, err := h.Ledger.Reader.Run(ctx, run.No)
	if err != nil || run.State == store.RunClosed {
		return run, err
	}
	jobs, err := h.Batches().Jobs(ctx, run)
	if err != nil {
		return run, err
	}
	if f.partial {
		for _, j := range jobs {
			if j.Segment.State == store.Launched && j.Segment.Mode == store.Batch && j.Done == 0 {
				fmt.Fprintf(w.Stderr, "%s hands out nothing of job %s before it ends (%s)\n", j.Provider, j.ID, j.Status)
			}
		}
		return run, nil
	}
	var done, all int64
	for _, j := range jobs {
		done, all = done+j.Done, all+j.Requests
	}
	return run, &shell.ExitError{Code: shell.ExitIncomplete,
		Err:  fmt.Errorf("batch %s is not done: %s of %s requests have come back", run.ID, assay.Thousands(done), assay.Thousands(all)),
		Hint: goesOn(ctx, h, run) + ", --partial takes what is there"}
}

// gather fetches what the providers have ready. Nothing is sent.
func gather(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	if err := h.Ready(ctx); err != nil {
		return err
	}
	if _, err := h.ReleaseEnded(ctx, run); err != nil {
		return err
	}
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return err
	}
	defer e.Close()
	wrong, err := e.Gather(ctx, run.No)
	for _, why := range wrong {
		fmt.Fprintln(w.Stderr, "assay:", why)
	}
	return err
}

// goesOn names the command that gets the rest of a batch, and says what it does: it may have to send it first.
func goesOn(ctx context.Context, h *shell.Home, run store.Run) string {
	if away, err := h.JobsAway(ctx, run); err == nil && !away {
		return "assay resume " + h.Named(run) + " sends the rest"
	}
	return "assay resume " + h.Named(run) + " stays with it"
}

// writeResults writes the files, each whole or not at all, and prints what they hold.
func writeResults(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, out outputs, f collectFlags) error {
	results, err := shell.NewOutput(w, out.results)
	if err != nil {
		return err
	}
	defer results.Discard()
	failed, err := shell.NewOutput(w, out.errors)
	if err != nil {
		return err
	}
	defer failed.Discard()
	got, err := h.Batches().Collect(ctx, run, batchrun.Output{Format: batchrun.Format(f.format), Results: results, Errors: failed})
	if err != nil {
		return err
	}
	if err := errors.Join(results.Commit(), failed.Commit()); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s: %s in %s", run.ID, assay.Count(got.Answers, "answer"), out.results)
	if got.Failures > 0 && out.errors != "" {
		fmt.Fprintf(w.Stderr, ", %s without one in %s", assay.Thousands(got.Failures), out.errors)
	} else if got.Failures > 0 {
		fmt.Fprintf(w.Stderr, ", %s without one", assay.Thousands(got.Failures))
	}
	if got.Open > 0 {
		fmt.Fprintf(w.Stderr, ", %s not back yet", assay.Thousands(got.Open))
	}
	fmt.Fprintln(w.Stderr)
	switch {
	case got.Open > 0:
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: fmt.Errorf("%s of batch %s %s no answer yet",
			assay.Count(got.Failures+got.Open, "request"), run.ID, assay.Verb(got.Failures+got.Open, "has", "have")),
			Hint: goesOn(ctx, h, run)}
	case got.Failures > 0:
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: fmt.Errorf("%s of batch %s %s no answer",
			assay.Count(got.Failures, "request"), run.ID, assay.Verb(got.Failures, "has", "have")),
			Hint: "assay errors " + h.Named(run) + " lists why, assay retry " + h.Named(run) + " sends them again"}
	}
	return nil
}

// collectForeign fetches the results of a job that was made elsewhere, as they are: its order and ids are its maker's.
func collectForeign(ctx context.Context, w *shell.World, j batchrun.Foreign, f collectFlags) error {
	if f.format != "provider" {
		return shell.Usage("--format provider", "job %s was made elsewhere: only its own lines are known", j.Status.Job)
	}
	if !j.Status.State.Terminal() && !f.partial {
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: fmt.Errorf("job %s is not done: %s", j.Status.Job, j.Status.Word),
			Hint: "--partial takes what is there"}
	}
	if len(j.Status.Parts) == 0 {
		return &shell.ExitError{Code: shell.ExitIncomplete,
			Err: fmt.Errorf("%s hands out nothing of job %s (%s)", j.Target.Name, j.Status.Job, j.Status.Word)}
	}
	out, err := f.outputs(w, filepath.Base(j.Status.Job)+".jsonl")
	if err != nil {
		return err
	}
	for _, kind := range []provider.PartKind{provider.PartResults, provider.PartErrors} {
		name := out.results
		if kind == provider.PartErrors {
			name = out.errors
		}
		if err := fetchParts(ctx, w, j, kind, name); err != nil && j.Status.State != provider.StateEnded {
			return &shell.ExitError{Code: shell.ExitIncomplete,
				Err: fmt.Errorf("%s hands out nothing of job %s (%s): %w", j.Target.Name, j.Status.Job, j.Status.Word, err)}
		} else if err != nil {
			return err
		}
	}
	fmt.Fprintf(w.Stderr, "job %s: results in %s\n", j.Status.Job, out.results)
	return nil
}

func fetchParts(ctx context.Context, w *shell.World, j batchrun.Foreign, kind provider.PartKind, name string) error {
	file, err := shell.NewOutput(w, name)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := j.Fetch(ctx, kind, file); err != nil {
		return err
	}
	return file.Commit()
}

// batchRefs are the batches that a command line names: our own, and jobs that were made elsewhere with the same key.
type batchRefs struct {
	runs    []store.Run
	foreign []batchrun.Foreign
}

// findBatches reads what the arguments mean. Without any, it is all batches that are open, or the newest.
func findBatches(ctx context.Context, w *shell.World, h *shell.Home, args []string, reach shell.ReachFlags) (batchRefs, error) {
	var refs batchRefs
	if len(args) == 0 {
		runs, err := h.Batches().Open(ctx)
		return batchRefs{runs: runs}, err
	}
	for _, arg := range args {
		run, ok, err := h.Batches().Find(ctx, arg)
		if err != nil {
			return refs, err
		}
		if _, batch := batchrun.Of(run); ok && !batch {
			return refs, shell.Usage("assay export "+run.ID+" writes its answers", "job %s belongs to run %s of study %s", arg,
				run.ID, run.Study)
		}
		if ok {
			refs.runs = append(refs.runs, run)
			continue
		}
		if h.Rehearsal { // whose jobs no provider knows
			return refs, shell.Usage("assay runs lists those there are", "no batch is called %q", arg)
		}
		job, err := shell.Elsewhere(ctx, w, arg, reach)
		if err != nil {
			return refs, err
		}
		refs.foreign = append(refs.foreign, job)
	}
	return refs, nil
}
