package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
)

// homeFlags say where runs are kept.
type homeFlags struct{ workspace.Place }

func (f *homeFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.Home, "home", "", "folder of ledger and artifacts (default: assay-data here or above; ASSAY_HOME)")
	c.Flags().StringVar(&f.DB, "db", "", "the ledger: a file or a postgres:// URL (default: in the home; ASSAY_DB)")
	c.Flags().StringVar(&f.Artifacts, "artifacts", "", "raw bytes: a folder, or s3://BUCKET/PREFIX or gs://BUCKET/PREFIX (default: in the home; ASSAY_ARTIFACTS)")
	f.Cache = workspace.UsualCache()
	c.Flags().Var(&f.Cache, "cache", "how much of a bucket is kept in the home; 0: nothing")
}

// home is an open workspace, with what commands show of it.
type home struct {
	*workspace.Home
	typed string // the flags that lead to it, as they have to be typed again; empty: none
}

// named is a run as it has to be typed again: with the flags that lead to its home.
func (h *home) named(run store.Run) string { return run.ID + h.typed }

// typed are the flags that were given, with a space before each. An address of a database may hold a password, and is not repeated.
func (f homeFlags) typed() string {
	text := ""
	if f.Home != "" {
		text += " --home " + results.ShellWord(f.Home)
	}
	if f.DB != "" && !strings.Contains(f.DB, "://") {
		text += " --db " + results.ShellWord(f.DB)
	}
	return text
}

// home is a home that these flags led to.
func (f homeFlags) home(w *World, h *workspace.Home) *home {
	w.typed = f.typed()
	return &home{h, w.typed}
}

// open opens the ledger and its artifacts, and makes them where they are missing. A rehearsal has its own.
func (f homeFlags) open(ctx context.Context, w *World, rehearsal bool) (*home, error) {
	h, err := f.Open(ctx, w.workspace(), workspace.Rehearsal(rehearsal))
	if err != nil {
		return nil, err
	}
	return f.home(w, h), nil
}

// exists reports whether there is a ledger to look into: looking makes none.
func (f homeFlags) exists(w *World, rehearsal bool) bool {
	return f.Exists(w.workspace(), workspace.Rehearsal(rehearsal))
}

// find opens the home that holds a run: the usual one, or that of the rehearsals. Where none is named, it says which it takes,
// if there are several.
func (f homeFlags) find(ctx context.Context, w *World, ref string) (*home, store.Run, error) {
	if ref != "" {
		h, run, err := f.Find(ctx, w.workspace(), ref)
		if err != nil {
			return nil, run, err
		}
		return f.home(w, h), run, nil
	}
	return f.latest(ctx, w, func(l workspace.Latest) bool { return !l.Alone })
}

// ordered opens the home of the run that an order is about: the one that is named, else the latest that is open and real, which
// it names.
func (f homeFlags) ordered(ctx context.Context, w *World, ref string) (*home, store.Run, error) {
	if ref != "" {
		return f.find(ctx, w, ref)
	}
	return f.latest(ctx, w, func(workspace.Latest) bool { return true })
}

// latest opens the home of the run that is meant where none is named, and says which that is, if that is wanted.
func (f homeFlags) latest(ctx context.Context, w *World, say func(workspace.Latest) bool) (*home, store.Run, error) {
	h, l, err := f.Latest(ctx, w.workspace())
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

// look opens what commands that only read look at: the home that holds a run, or a bundle. A file
// never hides a run of the same name.
func (f homeFlags) look(ctx context.Context, w *World, ref string) (*home, store.Run, error) {
	if name := w.Disk.Path(ref); ref != "" && w.Disk.IsFile(name) {
		if h, run, err := f.find(ctx, w, ref); err == nil {
			if run.ID == ref || run.Study == ref { // ./NAME is the file
				return h, run, nil
			}
			h.Close()
		}
		return openBundle(ctx, w, name)
	}
	return f.find(ctx, w, ref)
}

// looking is what a command does that looks at one run: the one that its argument names, else the latest.
func (f *homeFlags) looking(w *World, at func(ctx context.Context, h *home, run store.Run) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		h, run, err := f.look(c.Context(), w, firstOf(args))
		if err != nil {
			return err
		}
		defer h.Close()
		return at(c.Context(), h, run)
	}
}

// ledgerHint is what may be done about a ledger that cannot be opened.
func ledgerHint(db string, err error) string {
	if strings.Contains(db, "://") {
		return "--db or ASSAY_DB names it; nothing was sent"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "nothing was sent; it belongs to another user: go on as that user, or name another folder with --home"
	}
	return "nothing was sent; put a copy of the file back, or `assay adopt PROVIDER --study FILE` recovers what the providers still hold into a new one"
}

func nearRuns(names []string) string {
	if len(names) == 0 {
		return "there is none yet; assay run STUDY begins one"
	}
	return assay.ThereAre(names)
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

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// watermark says that what follows comes from a rehearsal.
func (h *home) watermark(w *World) {
	if h.Rehearsal {
		fmt.Fprintln(w.Stderr, "REHEARSAL: nothing was really asked or paid")
	}
}
