package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"assay/internal/assay"
)

// Digest returns the SHA-256, in hex, of an input's items in canonical form. The position of a row is no part of it: a
// comment added above the questions changes nothing. Nothing is read anew while the files are as they were.
func (s *Source) Digest(ctx context.Context, name string) (string, error) {
	if s.Now == nil || s.Attach != nil {
		return s.digest(ctx, name)
	}
	if sum, ok := s.digests.of(s.fsys, name); ok {
		return sum, nil
	}
	seen := &witness{FS: s.fsys, settled: s.Now().Add(-tick), states: map[string]state{}}
	watched := *s
	watched.fsys = seen
	sum, err := watched.digest(ctx, name)
	if err == nil && !seen.doubt {
		s.digests.put(name, digest{sum, seen.states})
	}
	return sum, err
}

func (s *Source) digest(ctx context.Context, name string) (string, error) {
	h := sha256.New()
	var line []byte
	for it, err := range s.Items(ctx, name) {
		if err != nil {
			return "", err
		}
		it.Place = assay.Place{}
		if line, err = Encode(line[:0], it); err != nil {
			return "", fmt.Errorf("digest input %q: %w", name, err)
		}
		h.Write(append(line, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// tick is the coarsest step in which file systems count the time of a change. A file that was changed within it may change again without
// looking different.
const tick = 2 * time.Second

// mostWatched is how many files an input is watched by: of more, looking at each would take as long as reading them, and memory.
const mostWatched = 1000

// digests keeps the digests of inputs.
type digests struct {
	mu    sync.Mutex
	known map[string]digest
}

// digest is that of an input, with the files and folders that it was read from.
type digest struct {
	sum  string
	from map[string]state
}

// state is what tells that a file was changed.
type state struct {
	size     int64
	modified time.Time
}

func stateOf(info fs.FileInfo) state { return state{info.Size(), info.ModTime()} }

// of returns the digest of an input if every file is as it was.
func (d *digests) of(files fs.FS, name string) (string, bool) {
	d.mu.Lock()
	known, ok := d.known[name]
	d.mu.Unlock()
	for name, was := range known.from {
		info, err := fs.Stat(files, name)
		if err != nil || !stateOf(info).same(was) {
			return "", false
		}
	}
	return known.sum, ok
}

func (s state) same(as state) bool { return s.size == as.size && s.modified.Equal(as.modified) }

func (d *digests) put(name string, is digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = map[string]digest{}
	}
	d.known[name] = is
}

// witness is a file system that notes what is opened.
type witness struct {
	fs.FS
	settled time.Time // a change since then may be followed by one that does not show
	states  map[string]state
	doubt   bool // something may change unnoticed, or there is too much to watch
}

// Open opens a file or a folder, and notes how it is.
func (w *witness) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if w.doubt {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil || len(w.states) == mostWatched || info.ModTime().IsZero() || info.ModTime().After(w.settled) {
		w.doubt, w.states = true, nil
		return f, nil
	}
	is := stateOf(info)
	if was, twice := w.states[name]; twice && !was.same(is) {
		w.doubt = true
	}
	w.states[name] = is
	return f, nil
}

// Stat describes what is under a name without opening it.
func (w *witness) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.FS, name) }
