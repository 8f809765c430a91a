package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/keep/store"
)

// homesDepth is how far below a folder homes are looked for.
const homesDepth = 8

// HomesUnder finds the homes in and below a folder that have a ledger of the asked kind: the folder itself if it is one.
// Hidden folders and links are not entered.
func HomesUnder(w *World, root string, rehearsal Rehearsal) ([]Place, error) {
	root = w.Disk.Path(root)
	var out []Place
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil && dir != root {
			return fs.SkipDir // what may not be read is not ours
		}
		if err != nil || !d.IsDir() {
			return err
		}
		if ledger := ledgerIn(dir, rehearsal); w.Disk.IsFile(ledger) {
			out = append(out, Place{Home: dir, DB: ledger, Cache: UsualCache()})
		}
		rel, _ := filepath.Rel(root, dir) // dir is below root
		name, deep := d.Name(), strings.Count(rel, string(filepath.Separator)) >= homesDepth
		if dir != root && (deep || name == homeName || strings.HasPrefix(name, ".") || name == "node_modules") {
			return fs.SkipDir
		}
		return nil
	})
	return out, err
}

// AllHomes finds the home of the working folder, which may be above it, and all below.
func AllHomes(w *World, rehearsal Rehearsal) ([]Place, error) {
	out, err := HomesUnder(w, ".", rehearsal)
	own := Place{}.Dir(w)
	if ledger := ledgerIn(own, rehearsal); err == nil && w.Disk.IsFile(ledger) &&
		!slices.ContainsFunc(out, func(p Place) bool { return p.Home == own }) {
		out = append([]Place{{Home: own, DB: ledger, Cache: UsualCache()}}, out...)
	}
	return out, err
}

// ledgerIn returns the file of the ledger in a home.
func ledgerIn(home string, rehearsal Rehearsal) string {
	if rehearsal {
		return filepath.Join(home, rehearsalName, ledgerName)
	}
	return filepath.Join(home, ledgerName)
}

// Latest is the run that a command without a name is about.
type Latest struct {
	Run    store.Run
	Alone  bool       // there is no other
	Newer  *store.Run // a rehearsal that was begun later, and is not meant; nil: none
	Unread error      // why it is not known whether there is one; nil: it is known
}

// Latest returns the run that a command without a name is about: the newest open run, else the newest, and a rehearsal only where
// there is nothing else. If there is a real run, rehearsals that cannot be read do not keep it from being found.
func (p Place) Latest(ctx context.Context, w *World) (*Home, Latest, error) {
	if !p.Exists(w, false) {
		return p.onlyRehearsed(ctx, w)
	}
	h, err := p.Open(ctx, w, false)
	if err != nil {
		return nil, Latest{}, err
	}
	runs, err := h.Ledger.Reader.Runs(ctx, "", store.RunOpen, store.RunClosed)
	if err != nil || len(runs) == 0 {
		if err = errors.Join(err, h.Close()); err != nil {
			return nil, Latest{}, err
		}
		return p.onlyRehearsed(ctx, w)
	}
	newest, count, err := p.newestOf(ctx, w, true)
	l := Latest{Run: runs[max(0, slices.IndexFunc(runs, func(r store.Run) bool { return r.State == store.RunOpen }))],
		Alone: len(runs)+count == 1, Unread: err}
	if newest != nil && newest.Created.After(l.Run.Created) {
		l.Newer = newest
	}
	return h, l, nil
}

// onlyRehearsed returns the newest run of all, if none is real.
func (p Place) onlyRehearsed(ctx context.Context, w *World) (*Home, Latest, error) {
	h, run, err := p.find(ctx, w, "")
	if err != nil {
		return nil, Latest{Run: run}, err
	}
	count := 0
	if h.Rehearsal { // it is open: opening it takes longer than reading it
		var runs []store.Run
		runs, err = h.Ledger.Reader.Runs(ctx, "", store.RunOpen, store.RunClosed)
		count = len(runs)
	} else {
		_, count, err = p.newestOf(ctx, w, true)
	}
	if err != nil {
		return nil, Latest{}, errors.Join(err, h.Close())
	}
	return h, Latest{Run: run, Alone: count <= 1}, nil
}

// newestOf returns the newest run of the rehearsals or of the real runs, and how many there are; nil: none.
func (p Place) newestOf(ctx context.Context, w *World, rehearsal Rehearsal) (*store.Run, int, error) {
	if !p.Exists(w, rehearsal) {
		return nil, 0, nil
	}
	h, err := p.Open(ctx, w, rehearsal)
	if err != nil {
		return nil, 0, err
	}
	runs, err := h.Ledger.Reader.Runs(ctx, "", store.RunOpen, store.RunClosed)
	if err = errors.Join(err, h.Close()); err != nil || len(runs) == 0 {
		return nil, 0, err
	}
	return &runs[0], len(runs), nil
}

// Find opens the home that holds a run: the usual one, or that of the rehearsals. An empty reference, or "latest", means what
// Latest does.
func (p Place) Find(ctx context.Context, w *World, ref string) (*Home, store.Run, error) {
	if cmp.Or(ref, latest) == latest {
		h, l, err := p.Latest(ctx, w)
		return h, l.Run, err
	}
	return p.find(ctx, w, ref)
}

// latest is a word for the run that an empty reference means.
const latest = "latest"
