// Package artifacts keeps the raw bytes that were sent and received, in one folder per run.
//
// A file appears under its name only when it is whole: each writer has a part of its own beside it, which is synced and then
// gets the name. Folders are for their owner alone. Names are checked, and the operating system keeps every path inside the folder. When a run is
// closed its files are packed into seekable zstd, and every line can still be read by its offset.
package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

const (
	packed  = ".zst"  // a packed file
	partial = ".part" // the folder of a file under construction, one part for each writer
	marker  = ".mark" // how much of a part is safe
)

// Folder is the place of all artifacts: the local home, or a folder that several workers share.
type Folder struct {
	root *os.Root
	dir  string
}

// Info is what is known of a whole file.
type Info struct {
	Name   string
	Size   int64
	SHA256 string // lower-case hex
}

// Open opens a folder, and makes it where it is missing.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make artifacts folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open artifacts folder: %w", err)
	}
	return &Folder{root, dir}, nil
}

// Close lets the folder go.
func (f *Folder) Close() error { return f.root.Close() }

// Dir is where the folder is.
func (f *Folder) Dir() string { return f.dir }

const identity = "folder-id"

// Identify gives the folder an id where it has none, and returns the one it has. Workers that share a ledger compare it:
// one that sees another folder would look for files that are elsewhere.
func (f *Folder) Identify(id string) (string, error) {
	w, err := f.root.OpenFile(identity, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.WriteString(w, id+"\n")
		err = errors.Join(err, w.Sync(), w.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("mark artifacts folder: %w", err)
	}
	text, err := f.root.ReadFile(identity)
	if err != nil {
		return "", fmt.Errorf("read the mark of the artifacts folder: %w", err)
	}
	if have := strings.TrimSpace(string(text)); have != "" {
		return have, nil
	}
	return "", fmt.Errorf("artifacts folder %s is just being marked by another process: try again", f.dir)
}

// Probe writes, reads and removes a file, so that a folder that cannot be used is found out before money moves.
func (f *Folder) Probe() error {
	name := "probe-" + random()
	if err := f.root.WriteFile(name, []byte(name), 0o600); err != nil {
		return fmt.Errorf("write into artifacts folder %s: %w", f.dir, err)
	}
	got, err := f.root.ReadFile(name)
	if err == nil && string(got) != name {
		err = errors.New("it did not keep what was written")
	}
	if err = errors.Join(err, f.root.Remove(name)); err != nil {
		return fmt.Errorf("probe artifacts folder %s: %w", f.dir, err)
	}
	return nil
}

// Name spells any id as a file name: everything outside [A-Za-z0-9._-] is percent-encoded, and so is a leading dot.
func Name(id string) string {
	if id == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// place checks a run and a name, and joins them.
func place(run, name string) (string, error) {
	for _, s := range []string{run, name} {
		if s == "" || s[0] == '.' || len(s) > 200 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%") != "" {
			return "", fmt.Errorf("artifact %q of run %q: not a safe name", name, run)
		}
	}
	for _, suffix := range []string{packed, partial, marker} {
		if strings.HasSuffix(name, suffix) {
			return "", fmt.Errorf("artifact %q: names do not end in %s", name, suffix)
		}
	}
	return path.Join(run, name), nil
}

// sync makes the entries of a run's folder durable.
func (f *Folder) sync(run string) error {
	d, err := f.root.Open(run)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Remove takes one artifact away, in whatever form it is there. One that is not there is no error.
func (f *Folder) Remove(run, name string) error {
	at, err := place(run, name)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", packed, partial, packed + partial} {
		err = errors.Join(err, f.root.RemoveAll(at+suffix))
	}
	return err
}

// Names lists the whole artifacts of a run.
func (f *Folder) Names(run string) ([]string, error) {
	if _, err := place(run, "x"); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(f.root.FS(), run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list artifacts of run %s: %w", run, err)
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); !strings.HasSuffix(n, partial) {
			names = append(names, strings.TrimSuffix(n, packed))
		}
	}
	return names, nil
}
