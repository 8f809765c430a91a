package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"assay/dispatch/river"
	"assay/engine"
	"assay/store"
)

type workerFlags struct {
	home        homeFlags
	concurrency int
}

func workerCommand(w *World) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:     "worker",
		GroupID: groupRun,
		Short:   "Take work from a shared PostgreSQL",
		Long: "Drives all open runs of a ledger in PostgreSQL until it is interrupted, beside any number of other workers on any number of\n" +
			"machines. All of them see the same folder of artifacts. A worker sends, looks at and fetches the segments of those providers whose\n" +
			"keys it has, and extends every run of which it has a key; no worker needs all keys. `assay status` names the segments for which no\n" +
			"worker has the key. What a killed worker held is taken up by another within a minute.",
		Args: args(),
		RunE: func(c *cobra.Command, _ []string) error { return serveWorker(c.Context(), w, f) },
	}
	f.home.register(c)
	c.Flags().IntVar(&f.concurrency, "concurrency", 8, "pieces of work at a time, for each provider")
	return c
}

func serveWorker(ctx context.Context, w *World, f workerFlags) error {
	env, _ := w.Env("ASSAY_DB")
	url := cmp.Or(f.home.db, env)
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return usage("--db postgres://user@host/database, or ASSAY_DB; `assay resume` drives runs of this machine", "a worker takes work from PostgreSQL, and none is named")
	}
	if f.concurrency < 1 || f.concurrency > 1000 {
		return usage("", "--concurrency: want 1 to 1000")
	}
	h, err := f.home.open(ctx, w, false)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.share(ctx); err != nil {
		return err
	}
	if err := h.files.Probe(); err != nil {
		return fmt.Errorf("the artifacts cannot be used: %w", err)
	}
	rng, err := newRand()
	if err != nil {
		return err
	}
	own := *w
	own.Stderr = &together{to: w.Stderr} // moves are told beside everything else
	w = &own
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		if err := narrateAll(ctx, w, h); err != nil {
			fmt.Fprintln(w.Stderr, "assay: the moves cannot be told:", err)
		}
	})
	d := &river.Driver{
		Ledger: h.ledger, URL: url, Clock: w.clock(), Timing: h.timing(w), Name: holderName() + "/" + newID(rng), Concurrency: f.concurrency,
		Log: slog.New(slog.NewTextHandler(w.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Engine: func(ctx context.Context, run store.Run) (*engine.Engine, error) {
			return workerEngine(ctx, w, h, run)
		},
		Ready: func() {
			fmt.Fprintf(w.Stderr, "taking work from %s, artifacts in %s; stop with Ctrl-C\n", store.Redact(url), h.files.Dir())
		},
		Closed: func(ctx context.Context, run store.Run) {
			fmt.Fprintf(w.Stderr, "run %s of %s is %s\n", run.ID, run.Study, run.Result)
			if s, err := h.planner.Study(ctx, run); err == nil {
				tell(ctx, w, s, h, run, resultOf(run))
			}
		},
	}
	return d.Drive(ctx)
}

// resultOf is how a closed run ended, as an error where something is missing.
func resultOf(run store.Run) error {
	if run.Result == store.ResultDone {
		return nil
	}
	return fmt.Errorf("done, but %s", run.Result)
}

// workerEngine is an engine for one run, from the run's own snapshot.
func workerEngine(ctx context.Context, w *World, h *home, run store.Run) (*engine.Engine, error) {
	s, err := h.planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	e, _, err := newEngine(ctx, w, h, s) // there is nothing to end but a rehearsal's simulator, and no rehearsal is shared
	return e, err
}

// artifactsMark is what the ledger calls the folder that its artifacts are in.
const artifactsMark = "artifacts"

// share makes sure that everybody who works on a shared ledger sees the same artifacts.
func (h *home) share(ctx context.Context) error {
	if !h.ledger.Postgres() {
		return nil
	}
	rng, err := newRand()
	if err != nil {
		return err
	}
	here, err := h.files.Identify(newID(rng))
	if err != nil {
		return err
	}
	known, err := h.ledger.SetMeta(ctx, artifactsMark, here)
	if err != nil {
		return err
	}
	if known != here {
		return usage("--artifacts names the folder that all workers share",
			"%s is not the folder with this ledger's artifacts: its mark is %s, the ledger knows %s", h.files.Dir(), here, known)
	}
	return nil
}

// handOver leaves a run to the workers that are alive. It tells whether there are any.
func handOver(ctx context.Context, w *World, h *home, run store.Run) (bool, error) {
	if !h.ledger.Postgres() {
		return false, nil
	}
	alive, err := river.Alive(ctx, h.where)
	if err != nil || !alive {
		return false, err
	}
	fmt.Fprintf(w.Stderr, "run %s of %s is left to the workers: `assay status %s` looks at it\n", run.ID, run.Study, run.ID)
	return true, nil
}
