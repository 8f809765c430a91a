package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
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
	// Around wraps every step that changes what is on disk, with the file's name below the folder; nil: nothing does. It
	// is for tests that stop a process there, or take back what was not synced.
	Around func(op Step, file string, call func() error) error
	// Started names the machine since its last start, for tests that take its power away; empty: the system is asked.
	Started string

	root    *os.Root
	dir     string
	written written
}

// Step is one thing that is done to a file.
type Step string

// The steps.
const (
	StepMake    Step = "make"
	StepWrite   Step = "write"
	StepSync    Step = "sync"
	StepPublish Step = "publish"
	StepRemove  Step = "remove"
)

func (f *Folder) step(op Step, file string, call func() error) error {
	if f.Around == nil {
		return call()
	}
	return f.Around(op, file, call)
}

// Open opens a folder, and makes it if it is missing.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make artifacts folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open artifacts folder: %w", err)
	}
	return &Folder{root: root, dir: dir}, nil
}

// Close lets the folder go.
func (f *Folder) Close() error { return f.root.Close() }

// String returns where the folder is.
func (f *Folder) String() string { return f.dir }

const identity = "folder-id"

// Probe writes, reads and removes a file, and marks a folder that has no mark.
func (f *Folder) Probe(_ context.Context, id string) (string, error) {
	name := "probe-" + random()
	if err := f.root.WriteFile(name, []byte(name), 0o600); err != nil {
		return "", fmt.Errorf("write into artifacts folder %s: %w", f.dir, err)
	}
	got, err := f.root.ReadFile(name)
	if err == nil && string(got) != name {
		err = errors.New("what was written there does not read back the same")
	}
	if err = errors.Join(err, f.root.Remove(name)); err != nil {
		return "", fmt.Errorf("probe artifacts folder %s: %w", f.dir, err)
	}
	return f.identify(id)
}

func (f *Folder) identify(id string) (string, error) {
	if id != "" {
		if err := f.mark(id); err != nil {
			return "", fmt.Errorf("mark artifacts folder: %w", err)
		}
	}
	text, err := f.root.ReadFile(identity)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the mark of the artifacts folder: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// mark marks a folder that has no mark. It appears whole.
func (f *Folder) mark(id string) error {
	temp := identity + "." + random()
	w, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, id+"\n")
	if err = errors.Join(err, w.Sync(), w.Close()); err == nil {
		err = f.root.Link(temp, identity)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	} else if err != nil { // a file system without links
		if _, e := f.root.Stat(identity); errors.Is(e, fs.ErrNotExist) {
			return f.root.Rename(temp, identity)
		}
		err = nil
	}
	return errors.Join(err, f.root.Remove(temp))
}

// sync makes the entries of a run's folder durable.
func (f *Folder) sync(run string) error {
	d, err := f.root.Open(run)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Remove takes one artifact away, in whatever form it is there.
func (f *Folder) Remove(_ context.Context, run, name string) error {
	at, err := place(run, name)
	if err != nil {
		return err
	}
	return f.step(StepRemove, at, func() error {
		var err error
		for _, suffix := range []string{"", packed, partial, packed + partial} {
			err = errors.Join(err, f.root.RemoveAll(at+suffix))
		}
		return err
	})
}

// List walks over what is kept of a run under names that begin so.
func (f *Folder) List(_ context.Context, run, begins string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		if _, err := place(run, "x"); err != nil {
			yield(Kept{}, err)
			return
		}
		entries, err := fs.ReadDir(f.root.FS(), run)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Kept{}, fmt.Errorf("list artifacts of run %s: %w", run, err))
			return
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), begins) {
				continue
			}
			k, err := f.kept(run, e)
			if errors.Is(err, fs.ErrNotExist) {
				continue // packed or finished meanwhile
			}
			if err != nil {
				err = fmt.Errorf("list artifacts of run %s: %w", run, err)
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// Runs walks over the folders of runs.
func (f *Folder) Runs(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		entries, err := fs.ReadDir(f.root.FS(), ".")
		if err != nil {
			yield("", fmt.Errorf("list artifacts folder %s: %w", f.dir, err))
			return
		}
		for _, e := range entries {
			if e.IsDir() && !yield(e.Name(), nil) {
				return
			}
		}
	}
}

func (f *Folder) kept(run string, e fs.DirEntry) (Kept, error) {
	name, part := strings.CutSuffix(e.Name(), partial)
	k := Kept{Name: strings.TrimSuffix(name, packed), Whole: !part}
	err := fs.WalkDir(f.root.FS(), path.Join(run, e.Name()), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			k.Bytes += info.Size()
		}
		return err
	})
	return k, err
}
