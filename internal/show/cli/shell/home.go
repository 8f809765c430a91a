package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/export/bundle"
)

// HomeFlags name where runs are kept.
type HomeFlags struct{ workspace.Place }

// Register adds the flags to a command.
func (f *HomeFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.Home, "home", "", "folder of ledger and artifacts (default: assay-data here or above; ASSAY_HOME)")
	c.Flags().StringVar(&f.DB, "db", "", "the ledger: a file or a postgres:// URL (default: in the home; ASSAY_DB)")
	c.Flags().StringVar(&f.Artifacts, "artifacts", "",
		"raw bytes: a folder, or s3://BUCKET/PREFIX or gs://BUCKET/PREFIX (default: in the home; ASSAY_ARTIFACTS)")
	f.Cache = workspace.UsualCache()
	c.Flags().Var(&f.Cache, "cache", "how much of a bucket is kept in the home; 0: nothing")
	f.Connections = ledger.UsualConnections
	c.Flags().Var(&f.Connections, "connections", "connections to PostgreSQL, at most")
}

// Home is an open workspace, with what commands show of it.
type Home struct {
	*workspace.Home
	Typed string // the flags that lead to it, as they have to be typed again; empty: none
}

// Named returns a run as it has to be typed again: with the flags that lead to its home.
func (h *Home) Named(run store.Run) string { return run.ID + h.Typed }

// typed returns the flags that were given, with a space before each. An address of a database may hold a password, and is not repeated.
func (f HomeFlags) typed() string {
	text := ""
	if f.Home != "" {
		text += " --home " + results.ShellWord(f.Home)
	}
	if f.DB != "" && !strings.Contains(f.DB, "://") {
		text += " --db " + results.ShellWord(f.DB)
	}
	return text
}

// home returns a home that these flags led to.
func (f HomeFlags) home(w *World, h *workspace.Home) *Home {
	w.typed = f.typed()
	if h.Ledger.Postgres() {
		w.torn = h.Ledger.Away
	}
	h.Planner.Results.Elsewhere = f.elsewhere(w)
	return &Home{h, w.typed}
}

// elsewhere opens what a study names beside its own run: a bundle in the study's folder or here, else a run.
func (f HomeFlags) elsewhere(w *World) func(context.Context, store.Run, string) (*results.Opened, error) {
	return func(ctx context.Context, from store.Run, name string) (*results.Opened, error) {
		at := name
		if beside := filepath.Join(from.Folder, name); !filepath.IsAbs(name) && from.Folder != "" && IsFile(beside) {
			at = beside
		}
		h, run, err := f.Look(ctx, w, at)
		if err != nil {
			return nil, err
		}
		return &results.Opened{Reader: h.Results(), Run: run, Close: h.Close}, nil
	}
}

// Waits has PostgreSQL be waited for where it is not there yet, and says so once.
func (f *HomeFlags) Waits(w *World) {
	said := false
	f.Waiting = func(err error) {
		if !said {
			fmt.Fprintf(w.Stderr, "the ledger cannot be reached, and is waited for (Ctrl-C ends that): %v\n", err)
		}
		said = true
	}
}

// OpenHome opens the ledger and its artifacts, and makes them where they are missing. A rehearsal has its own.
func (f HomeFlags) OpenHome(ctx context.Context, w *World, rehearsal bool) (*Home, error) {
	h, err := f.Open(ctx, w.Workspace(), workspace.Rehearsal(rehearsal))
	if err != nil {
		return nil, err
	}
	return f.home(w, h), nil
}

// HasHome reports whether there is a ledger to look into: looking makes none.
func (f HomeFlags) HasHome(w *World, rehearsal bool) bool {
	return f.Exists(w.Workspace(), workspace.Rehearsal(rehearsal))
}

// FindRun opens the home that holds a run: the usual one, or that of the rehearsals. Where none is named, it says which it takes,
// if there are several.
func (f HomeFlags) FindRun(ctx context.Context, w *World, ref string) (*Home, store.Run, error) {
	if ref != "" {
		h, run, err := f.Find(ctx, w.Workspace(), ref)
		if err != nil {
			return nil, run, err
		}
		if h.Newer != "" {
			fmt.Fprintf(w.Stderr, "run %s (rehearsal %s is newer, and is meant only where its id is named)\n", run.ID, h.Newer)
		}
		return f.home(w, h), run, nil
	}
	return f.latest(ctx, w, func(l workspace.Latest) bool { return !l.Alone })
}

// Ordered opens the home of the run that an order is about: the one that is named, else the latest that is open and real, which
// it names.
func (f HomeFlags) Ordered(ctx context.Context, w *World, ref string) (*Home, store.Run, error) {
	if ref != "" {
		return f.FindRun(ctx, w, ref)
	}
	return f.latest(ctx, w, func(workspace.Latest) bool { return true })
}

// latest opens the home of the run that is meant where none is named, and prints which that is, if that is wanted.
func (f HomeFlags) latest(ctx context.Context, w *World, say func(workspace.Latest) bool) (*Home, store.Run, error) {
	h, l, err := f.Latest(ctx, w.Workspace())
	if err != nil {
		return nil, l.Run, err
	}
	if l.Unread != nil {
		fmt.Fprintf(w.Stderr, "the rehearsals cannot be read, so a newer one would not be mentioned: %v\n", l.Unread)
	}
	if say(l) {
		kind := "run"
		if h.Rehearsal {
			kind = "rehearsal"
		}
		text := fmt.Sprintf("%s %s of %s, which is %s", kind, l.Run.ID, l.Run.Study, l.Run.State)
		if l.Newer != nil {
			text += fmt.Sprintf(" (rehearsal %s of %s is newer, and is meant only where it is named)", l.Newer.ID, l.Newer.Study)
		}
		fmt.Fprintln(w.Stderr, text)
	}
	return f.home(w, h), l.Run, nil
}

// Look opens what commands that only read look at: the home that holds a run, or a bundle. A file
// never hides a run of the same name.
func (f HomeFlags) Look(ctx context.Context, w *World, ref string) (*Home, store.Run, error) {
	if name := w.Disk.Path(ref); ref != "" && w.Disk.IsFile(name) {
		if h, run, err := f.FindRun(ctx, w, ref); err == nil {
			if run.ID == ref || run.Study == ref { // ./NAME is the file
				return h, run, nil
			}
			h.Close()
		}
		h, run, err := openBundle(ctx, w, name)
		if err == nil {
			h.Results().Elsewhere = f.elsewhere(w)
		}
		return h, run, err
	}
	return f.FindRun(ctx, w, ref)
}

// Looking returns what a command does that looks at one run: the one that its argument names, else the latest.
func (f *HomeFlags) Looking(w *World, at func(ctx context.Context, h *Home, run store.Run) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		h, run, err := f.Look(c.Context(), w, FirstOf(args))
		if err != nil {
			return err
		}
		defer h.Close()
		return at(c.Context(), h, run)
	}
}

// ledgerHint returns what may be done about a ledger that cannot be opened.
func ledgerHint(db string, err error) string {
	if strings.Contains(db, "://") {
		return "--db or ASSAY_DB names it; nothing was sent"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "nothing was sent; this user cannot write it: go on as its owner, or name another folder, such as a copy, with --home"
	}
	return "nothing was sent; put a copy of the file back, or `assay adopt PROVIDER --study FILE` recovers what the providers still hold " +
		"into a new one"
}

func nearRuns(names []string) string {
	if len(names) == 0 {
		return "there is none yet; assay run STUDY begins one"
	}
	return assay.ThereAre(names)
}

// IsFile reports whether a name is that of a regular file.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Watermark prints that what follows comes from a rehearsal.
func (h *Home) Watermark(w *World) {
	if h.Rehearsal {
		fmt.Fprintln(w.Stderr, "REHEARSAL: nothing was really asked or paid")
	}
}

// Results reads the runs of the home.
func (h *Home) Results() *results.Reader {
	return h.Planner.Results
}

// Watermark returns what begins a sentence about a rehearsal.
func Watermark(h *Home) string {
	if h.Rehearsal {
		return "REHEARSAL: "
	}
	return ""
}

// openBundle makes a ledger out of a bundle, in a folder that goes away when the home is closed.
func openBundle(ctx context.Context, w *World, name string) (*Home, store.Run, error) {
	b, err := bundle.Open(name)
	if err != nil {
		hint := "ask for it again, or make it anew: assay bundle RUN --out FILE"
		if errors.Is(err, bundle.ErrNotBundle) {
			hint = "assay bundle RUN --out FILE makes one; a RUN is an id or a study's name"
		}
		return nil, store.Run{}, &ExitError{Code: ExitUsage, Err: err, Hint: hint}
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

func unpack(ctx context.Context, w *World, b *bundle.Bundle, dir string) (*Home, store.Run, error) {
	where := filepath.Join(dir, "ledger.db")
	ledger, err := ledger.Open(ctx, where, ledger.Options{Now: w.Now})
	if err != nil {
		return nil, store.Run{}, err
	}
	run, err := b.Restore(ctx, ledger)
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	return &Home{Home: workspace.New(w.Workspace(),
		workspace.Home{Ledger: ledger, Files: files, Where: where, Rehearsal: run.Rehearsal, Temporary: dir})}, run, nil
}

// FindAll finds runs that are in one home.
func (f HomeFlags) FindAll(ctx context.Context, w *World, refs []string) (*Home, []store.Run, error) {
	h, run, err := f.FindRun(ctx, w, FirstOf(refs))
	if err != nil {
		return nil, nil, err
	}
	runs := []store.Run{run}
	for _, ref := range refs[min(1, len(refs)):] {
		other, run, err := f.FindRun(ctx, w, ref)
		if err == nil {
			other.Close()
			if other.Rehearsal != h.Rehearsal {
				err = Usage("watch it on its own", "run %s is in another ledger: rehearsals have their own", run.ID)
			}
		}
		if err != nil {
			h.Close()
			return nil, nil, err
		}
		runs = append(runs, run)
	}
	return h, runs, nil
}

// TakenOver prints that a run goes on after the process that drove it.
func (w *World) TakenOver(holder string) {
	fmt.Fprintf(w.Stderr, "%s, which drove this run, is gone: going on from where it was\n", ProcessOf(holder))
}

// ProcessOf returns the holder of a lease as people say it.
func ProcessOf(holder string) string {
	parts := strings.Split(holder, "/")
	if len(parts) < 2 {
		return holder
	}
	return "process " + parts[1] + " on " + parts[0]
}
