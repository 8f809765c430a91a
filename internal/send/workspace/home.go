package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/judge/program"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/origin"
	"assay/internal/send/planner"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/catalog"
)

const (
	homeName      = "assay-data" // the folder that is looked for here and above, as git does
	ledgerName    = "ledger.db"  // the ledger in a home, if no database is named
	rehearsalName = "rehearsal"  // the folder of a home that holds rehearsals
	artifactsName = "runs"       // the folder of a home that holds raw bytes
)

// Place is where runs are kept; empty fields mean the usual place.
type Place struct {
	Home      string // folder of ledger and artifacts
	DB        string // the ledger: a file or a postgres:// URL
	Artifacts string // raw bytes: a folder, or the address of a bucket
	Cache     Bytes  // of a bucket, on this machine

	Connections Connections     // to PostgreSQL, at most; 0: as usual
	Waiting     func(err error) // called when PostgreSQL is not there and is waited for; nil: that is an error
}

// Rehearsal selects one of the two ledgers of a place: that of rehearsals, or the real one.
type Rehearsal bool

// Home is an open ledger with its artifacts.
type Home struct {
	World     *World
	Ledger    *ledger.Ledger
	Files     artifacts.Place
	Planner   *planner.Planner
	Where     string // the database's URL or the ledger's file
	Rehearsal bool
	Temporary string // a folder that is removed when the home is closed; empty: none
	Newer     string // a rehearsal that is newer than the run that was looked for by the same name; empty: none is
}

// New returns a home made of an open ledger and its artifacts. A home with a folder that goes away came out of a bundle: nothing of
// it is driven.
func New(w *World, h Home) *Home {
	h.World = w
	lib := &script.Library{Files: h.Files, Store: snapshot.Store{
		Runs: h.Ledger.Runs, Leases: h.Ledger.Leases, Imports: h.Ledger.Imports, Reader: h.Ledger.Reader, Catalog: catalog.Default(),
		Files: h.Files}}
	if h.Temporary == "" {
		lib.Programs, lib.Folder = &program.Runner{Env: w.Env, Instead: w.Seams.Judges}, w.Disk.Folder
	}
	h.Planner = &planner.Planner{
		Library: lib,
		Results: &results.Reader{Ledger: h.Ledger.Reader, Pages: h.Ledger.Pages, Scripts: lib, Rehearsal: h.Rehearsal,
			Bundled: h.Temporary != "", Gone: h.Gone},
		Batches: &batchrun.Planner{Runs: h.Ledger.Runs, Clients: h.Ledger.Clients,
			Reader: h.Ledger.Reader, Files: h.Files, Catalog: catalog.Default()},
	}
	return &h
}

// Close closes ledger and artifacts.
func (h *Home) Close() error {
	err := errors.Join(h.Files.Close(), h.Ledger.Close())
	if h.Temporary != "" {
		err = errors.Join(err, os.RemoveAll(h.Temporary))
	}
	return err
}

// Dir returns where the home is, or would be.
func (p Place) Dir(w *World) string {
	if named := cmp.Or(p.Home, w.env("ASSAY_HOME")); named != "" {
		return w.Disk.Path(named)
	}
	for dir := w.Disk.Dir; ; dir = filepath.Dir(dir) {
		if found := filepath.Join(dir, homeName); w.Disk.IsFolder(found) {
			return found
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(w.Disk.Dir, homeName)
		}
	}
}

// Database returns the ledger that was named; empty: it is a file in the home.
func (p Place) Database(w *World) string { return cmp.Or(p.DB, w.env("ASSAY_DB")) }

// LedgerError is a ledger that cannot be opened.
type LedgerError struct {
	DB  string // its file or URL
	Err error
}

// Error returns the reason.
func (e *LedgerError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *LedgerError) Unwrap() error { return e.Err }

// Open opens the ledger and its artifacts, and makes them if they are missing. A rehearsal has its own.
func (p Place) Open(ctx context.Context, w *World, rehearsal Rehearsal) (*Home, error) {
	dir, db, files := p.Dir(w), p.Database(w), p.artifacts(w)
	if rehearsal {
		dir, db = filepath.Join(dir, rehearsalName), ""
		files = filepath.Join(dir, artifactsName)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		var p assay.Problems
		p.Add(assay.Place{File: dir}, "--home or ASSAY_HOME names another folder", "runs cannot be kept here: %s", assay.FileReason(err))
		return nil, p
	}
	db = cmp.Or(db, filepath.Join(dir, ledgerName))
	opened, err := p.openLedger(ctx, w, db)
	if err != nil {
		return nil, &LedgerError{DB: db, Err: err}
	}
	place, err := p.openArtifacts(w, files, filepath.Join(dir, cacheName))
	if err != nil {
		opened.Close()
		return nil, &ArtifactsError{err}
	}
	return New(w, Home{Ledger: opened, Files: place, Where: db, Rehearsal: bool(rehearsal)}), nil
}

// openLedger opens a ledger, and waits for a server that is not there yet where the place says so.
func (p Place) openLedger(ctx context.Context, w *World, db string) (*ledger.Ledger, error) {
	for began := w.Now(); ; {
		opened, err := ledger.Open(ctx, db, ledger.Options{Now: w.Now, SharedTime: w.Sleep == nil, Around: w.Around, Synced: w.Synced,
			Connect: w.Connect, Connections: int(p.Connections)})
		if err == nil || p.Waiting == nil || !ledger.Away(err) || ctx.Err() != nil || w.Now().Sub(began) > engine.MostAway {
			return opened, err
		}
		p.Waiting(err)
		if err := w.Clock().Sleep(ctx, ledgerEvery); err != nil {
			return nil, err
		}
	}
}

// ledgerEvery is how often a server is tried that is not there yet.
const ledgerEvery = time.Second

// Connections is how many connections to PostgreSQL a process has at most, as a flag.
type Connections int

// String writes the number.
func (c *Connections) String() string { return strconv.Itoa(int(*c)) }

// Set reads it.
func (c *Connections) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < ledger.LeastConnections || n > 1000 {
		return fmt.Errorf("want %d to 1000", ledger.LeastConnections)
	}
	*c = Connections(n)
	return nil
}

// Type names it in the help.
func (c *Connections) Type() string { return "int" }

// Exists reports whether there is a ledger to look into: looking makes none.
func (p Place) Exists(w *World, rehearsal Rehearsal) bool {
	if rehearsal {
		return w.Disk.IsFile(filepath.Join(p.Dir(w), rehearsalName, ledgerName))
	}
	return p.Database(w) != "" || w.Disk.IsFile(filepath.Join(p.Dir(w), ledgerName))
}

// Lost makes sure that a place without a run has never had one.
func (p Place) Lost(w *World) error {
	if IsShared(p.Database(w)) {
		return nil
	}
	return origin.LostOf(p.artifacts(w))
}

// artifacts returns the folder of the artifacts, or the address of their bucket.
func (p Place) artifacts(w *World) string {
	return cmp.Or(p.Artifacts, w.env("ASSAY_ARTIFACTS"), filepath.Join(p.Dir(w), artifactsName))
}

// NoRunError reports a reference that matches no run.
type NoRunError struct {
	Ref    string   // empty: the newest was meant, and there is none
	Others []string // newest runs that there are
}

// Error names the reference.
func (e *NoRunError) Error() string {
	if e.Ref == "" {
		return "there is no run yet"
	}
	return fmt.Sprintf("no run is called %q", e.Ref)
}

// UnclearRunError reports a reference that cannot be read, or matches several runs.
type UnclearRunError struct{ Err error }

// Error returns the reason.
func (e *UnclearRunError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *UnclearRunError) Unwrap() error { return e.Err }

// UnpreparedError reports a run that was stopped while it was being prepared.
type UnpreparedError struct{ Run string }

// Error names the run.
func (e *UnpreparedError) Error() string {
	return fmt.Sprintf("run %s was stopped while it was being prepared; nothing of it was sent", e.Run)
}

// find opens the home that holds a run: the usual one, or that of the rehearsals. An empty reference means the newest of both;
// a name means a real run, where there is one. A real run is found though the rehearsals cannot be read.
func (p Place) find(ctx context.Context, w *World, ref string) (*Home, store.Run, error) {
	var newest *Home
	var run store.Run
	var others []string
	for _, rehearsal := range []Rehearsal{false, true} {
		if !p.Exists(w, rehearsal) {
			continue
		}
		h, err := p.Open(ctx, w, rehearsal)
		switch {
		case err != nil && newest != nil:
			continue
		case err != nil:
			return nil, run, err
		}
		found, err := h.named(ctx, cmp.Or(ref, latest))
		switch {
		case newest != nil && err != nil && !errors.Is(err, store.ErrAmbiguous):
			h.Close()
		case err == nil && (newest == nil || ref == "" && found.Created.After(run.Created)):
			if newest != nil {
				newest.Close()
			}
			newest, run = h, found
		case err == nil && ref != "": // a name means real runs before rehearsals
			if found.Created.After(run.Created) {
				newest.Newer = found.ID
			}
			h.Close()
		case err != nil && !errors.Is(err, store.ErrNotFound):
			if newest != nil {
				newest.Close()
			}
			return nil, run, errors.Join(&UnclearRunError{err}, h.Close())
		default:
			others = append(others, h.newest(ctx)...)
			h.Close()
		}
	}
	if newest == nil {
		if len(others) == 0 {
			if err := p.Lost(w); err != nil {
				return nil, run, err
			}
		}
		return nil, run, &NoRunError{Ref: ref, Others: others}
	}
	if run.State == store.RunPreparing {
		newest.Close()
		return nil, run, &UnpreparedError{Run: run.ID}
	}
	return newest, run, nil
}

// named finds a run by its id, the beginning of one, the name of its study or batch file, or the id of one of its jobs.
func (h *Home) named(ctx context.Context, ref string) (store.Run, error) {
	run, err := h.Ledger.Reader.FindRun(ctx, ref, "")
	if !errors.Is(err, store.ErrNotFound) {
		return run, err
	}
	if found, ok, lost := h.Batches().Find(ctx, ref); ok || lost != nil {
		return found, lost
	}
	return run, err
}

// newest names the newest runs of a home, for a hint.
func (h *Home) newest(ctx context.Context) []string {
	const most = 5
	all, err := h.Ledger.Pages.RunsPage(ctx, 0, most)
	if err != nil {
		return nil // the error that is reported counts more
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.ID + " of " + r.Study
	}
	return names
}

// OpenRuns lists the open runs of a place, newest first, and closed ones that owe a look at a provider's list of jobs; none if there is no
// ledger yet.
func (p Place) OpenRuns(ctx context.Context, w *World) ([]store.Run, error) {
	if !p.Exists(w, false) {
		return nil, p.Lost(w)
	}
	h, err := p.Open(ctx, w, false)
	if err != nil {
		return nil, err
	}
	open, err := h.Ledger.Reader.Runs(ctx, "", store.RunOpen)
	owing, lost := h.Ledger.Pages.Owing(ctx)
	return append(open, owing...), errors.Join(err, lost, h.Close())
}

// IsShared reports whether the URL of a ledger is one that several processes can share.
func IsShared(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}
