package driving

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/send/workers"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type workerFlags struct {
	home        shell.HomeFlags
	concurrency int
	programs    bool
	shown       listenFlags
}

// Worker makes the command `assay worker`.
func Worker(w *shell.World) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:     "worker",
		GroupID: shell.GroupRun,
		Short:   "Take work from a shared PostgreSQL",
		Long: "Drives all open runs of a ledger in PostgreSQL until it is interrupted, beside any number of other workers on " +
			"any number of\n" +
			"machines. All of them see the same artifacts: a folder that they share, or a bucket. A worker sends, looks at and " +
			"fetches the\n" +
			"segments of those providers whose keys it has, and extends every run of which it has a key; no worker needs all keys.\n" +
			"`assay status` names the segments for which no worker has the key. What a killed worker held is taken up by another within\n" +
			"two minutes. A worker needs keys and the URLs of ledger and artifacts, and no file of a study. Only a run in which a " +
			"program judges\n" +
			"needs a worker with --programs, on a machine that has the study's folder.",
		Args: shell.Args(),
		RunE: func(c *cobra.Command, _ []string) error { return serveWorker(c.Context(), w, f) },
	}
	f.home.Register(c)
	c.Flags().BoolVar(&f.programs, "programs", false, "run the judging programs of studies here, each in the folder of its study")
	f.shown.register(c)
	c.Flags().StringVar(&f.shown.log, "log", "text", "form of the log: text or json; durations as 1m30s")
	c.Flags().IntVar(&f.concurrency, "concurrency", 8, "pieces of work at a time, for each provider")
	return c
}

func serveWorker(ctx context.Context, w *shell.World, f workerFlags) error {
	url := f.home.Database(w.Workspace())
	if !workspace.IsShared(url) {
		return shell.Usage("--db postgres://user@host/database, or ASSAY_DB; `assay resume` drives runs of this machine",
			"a worker takes work from PostgreSQL, and none is named")
	}
	if f.concurrency < 1 || f.concurrency > 1000 {
		return shell.Usage("", "--concurrency: want 1 to 1000")
	}
	if err := f.shown.check(w); err != nil {
		return err
	}
	queue := workers.Share(int(f.home.Connections))
	f.home.Connections -= workspace.Connections(queue)
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, false)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Ready(ctx); err != nil {
		return err
	}
	own := *w
	own.Stderr = &term.Lines{To: w.Stderr} // moves are printed beside everything else
	w = &own
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { progress.NarrateAll(ctx, w, h) })
	var ready atomic.Bool
	shown, err := pulse{home: h.Home, ready: ready.Load}.serve(ctx, f.shown, w)
	if err != nil {
		return err
	}
	wg.Go(func() { _ = shown() }) // it ends with the worker
	woken := make(chan store.Work, 100)
	taken, err := hooked{home: h.Home, woken: woken}.serve(ctx, f.shown, w)
	if err != nil {
		return err
	}
	wg.Go(taken)
	return workers.Work(ctx, h.Home, workers.Options{
		Connections: queue, Concurrency: f.concurrency, Programs: f.programs, Log: f.shown.logger(w.Stderr), Woken: woken,
		Ready: func() {
			ready.Store(true)
			fmt.Fprintf(w.Stderr, "taking work from %s, artifacts in %s; stop with Ctrl-C\n", db.Redact(url), h.Files)
		},
		Closed: func(ctx context.Context, run store.Run) {
			is, err := runs.Of(ctx, h.Results(), run)
			if err == nil {
				fmt.Fprintln(w.Stderr, is.Sentence())
				err = sendNews(ctx, w, h, is)
			}
			if err != nil {
				fmt.Fprintln(w.Stderr, "assay:", err)
			}
		},
	})
}

// handOver leaves a run to the workers that are alive. It reports whether there are any.
func handOver(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) (bool, error) {
	alive, err := workers.Alive(ctx, h.Home)
	if err != nil || !alive {
		return false, err
	}
	fmt.Fprintf(w.Stderr, "run %s of %s is left to the workers: `assay status %s` looks at it\n", run.ID, run.Study, h.Named(run))
	return true, nil
}
