package cli

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/artifacts"
	"assay/batchrun"
	"assay/catalog"
	"assay/program"
	"assay/store"
	"assay/waves"
)

// homeFlags say where runs are kept.
type homeFlags struct {
	home, db, artifacts string
}

func (f *homeFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.home, "home", "", "folder of ledger and artifacts (default: assay-data here or above; ASSAY_HOME)")
	c.Flags().StringVar(&f.db, "db", "", "the ledger: a file or a postgres:// URL (default: in the home; ASSAY_DB)")
	c.Flags().StringVar(&f.artifacts, "artifacts", "", "folder of raw bytes, shared between workers (default: in the home)")
}

// homeName is the folder that is looked for here and above, as git does.
const homeName = "assay-data"

// ledgerName is the ledger in a home, where no database is named.
const ledgerName = "ledger.db"

// home is an open ledger with its artifacts.
type home struct {
	ledger    *store.Store
	files     *artifacts.Folder
	planner   *planners
	where     string // the database's URL or the ledger's file
	rehearsal bool
	luck      uint64 // seed of the simulator that a rehearsal runs against; 0: the usual one
	passing   string // a folder that goes away with it; empty: it stays
}

func (h *home) Close() error {
	err := errors.Join(h.files.Close(), h.ledger.Close())
	if h.passing != "" {
		err = errors.Join(err, os.RemoveAll(h.passing))
	}
	return err
}

// dir is where the home is, or would be.
func (f homeFlags) dir(w *World) string {
	if env, _ := w.Env("ASSAY_HOME"); f.home != "" || env != "" {
		return w.Disk.Path(cmp.Or(f.home, env))
	}
	for dir := w.Disk.Dir; ; dir = filepath.Dir(dir) {
		if found := filepath.Join(dir, homeName); w.Disk.isFolder(found) {
			return found
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(w.Disk.Dir, homeName)
		}
	}
}

// open opens the ledger and its artifacts, and makes them where they are missing. A rehearsal has its own.
func (f homeFlags) open(ctx context.Context, w *World, rehearsal bool) (*home, error) {
	dir := f.dir(w)
	env, _ := w.Env("ASSAY_DB")
	db, files := cmp.Or(f.db, env), f.artifacts
	if rehearsal {
		dir, db, files = filepath.Join(dir, "rehearsal"), "", ""
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the home of runs: %w", err)
	}
	db = cmp.Or(db, filepath.Join(dir, ledgerName))
	ledger, err := store.Open(ctx, db, store.Options{Now: w.Now, Around: w.Around})
	if err != nil {
		return nil, &exitError{code: exitFailed, err: err, hint: ledgerHint(db)}
	}
	folder, err := artifacts.Open(cmp.Or(files, filepath.Join(dir, "runs")))
	if err != nil {
		ledger.Close()
		return nil, fmt.Errorf("open the artifacts: %w", err)
	}
	h := &home{ledger: ledger, files: folder, planner: newPlanners(ledger, folder), where: db, rehearsal: rehearsal}
	h.planner.Findings, h.planner.Programs = h.results().Gates, &program.Runner{Env: w.Env}
	return h, nil
}

// ledgerHint is what may be done about a ledger that cannot be opened.
func ledgerHint(db string) string {
	if strings.Contains(db, "://") {
		return "--db or ASSAY_DB names it; nothing was sent"
	}
	return "nothing was sent; put a copy of the file back, or `assay adopt PROVIDER --study FILE` recovers what the providers still hold into a new one"
}

func newPlanners(ledger *store.Store, files *artifacts.Folder) *planners {
	return &planners{
		Planner: &waves.Planner{Ledger: ledger, Files: files, Catalog: catalog.Default()},
		batches: &batchrun.Planner{Ledger: ledger, Files: files, Catalog: catalog.Default()},
	}
}

// find opens the home that holds a run: the usual one, or that of the rehearsals.
func (f homeFlags) find(ctx context.Context, w *World, ref string) (*home, store.Run, error) {
	var newest *home
	var run store.Run
	var others []string
	for _, rehearsal := range []bool{false, true} {
		if !f.exists(w, rehearsal) {
			continue
		}
		h, err := f.open(ctx, w, rehearsal)
		if err != nil {
			return nil, run, err
		}
		found, err := h.ledger.FindRun(ctx, cmp.Or(ref, "latest"), "")
		switch {
		case err == nil && (newest == nil || found.Created.After(run.Created)):
			if newest != nil {
				newest.Close()
			}
			newest, run = h, found
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return nil, run, errors.Join(usage("", "%s", err), h.Close())
		default:
			others = append(others, h.runs(ctx)...)
			h.Close()
		}
	}
	if newest != nil && run.State == store.RunPreparing {
		newest.Close()
		return nil, run, usage("assay run STUDY begins again", "run %s was stopped while it was being prepared; nothing of it was sent", run.ID)
	}
	if newest == nil {
		if ref == "" {
			return nil, run, usage("assay run STUDY begins one", "there is no run yet")
		}
		return nil, run, usage(nearRuns(others), "no run is called %q", ref)
	}
	return newest, run, nil
}

// exists tells whether there is a ledger to look into: looking makes none.
func (f homeFlags) exists(w *World, rehearsal bool) bool {
	if rehearsal {
		return isFile(filepath.Join(f.dir(w), "rehearsal", ledgerName))
	}
	env, _ := w.Env("ASSAY_DB")
	return f.db != "" || env != "" || isFile(filepath.Join(f.dir(w), ledgerName))
}

// runs names the newest runs of a home, for a hint.
func (h *home) runs(ctx context.Context) []string {
	const most = 5
	all, err := h.ledger.RunsPage(ctx, 0, most)
	if err != nil {
		return nil // the error that is being told counts more
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.ID + " of " + r.Study
	}
	return names
}

func nearRuns(names []string) string {
	if len(names) == 0 {
		return "there is none yet; assay run STUDY begins one"
	}
	return "there are " + strings.Join(names, ", ")
}

// look opens what commands that only read look at: the home that holds a run, or a bundle.
func (f homeFlags) look(ctx context.Context, w *World, ref string) (*home, store.Run, error) {
	if name := w.Disk.Path(ref); ref != "" && isFile(name) {
		return openBundle(ctx, w, name)
	}
	return f.find(ctx, w, ref)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// reasonOf is why a file cannot be had, without its path.
func reasonOf(err error) string {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or folder"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}

// newID is an id for a run: ten letters that say nothing.
func newID(rng *rand.Rand) string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	id := make([]byte, 10)
	for i := range id {
		id[i] = letters[rng.IntN(len(letters))]
	}
	return string(id)
}

// newRand is randomness for ids, nonces and jitter.
func newRand() (*rand.Rand, error) {
	var seed [16]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))), nil
}

// watermark says that what follows comes from a rehearsal.
func (h *home) watermark(w *World) {
	if h.rehearsal {
		fmt.Fprintln(w.Stderr, "REHEARSAL: nothing of this was really asked or paid")
	}
}
