package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study/media"
)

// blockItems is how many items have their files copied together, and copies is how many at a time: each waits for the disk.
const (
	blockItems = 64
	copies     = 8
)

// keepShown walks over items when the files that their requests show are kept: each content once, however many runs show it.
func (s *Store) keepShown(ctx context.Context, from fs.FS, items iter.Seq2[assay.Item, error]) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		seen := map[assay.Sum]bool{}
		var block []assay.Item
		flush := func() bool {
			if err := s.copyShown(ctx, from, block, seen); err != nil {
				yield(assay.Item{}, err)
				return false
			}
			for _, it := range block {
				if !yield(it, nil) {
					return false
				}
			}
			block = block[:0]
			return true
		}
		for it, err := range items {
			if err != nil {
				if flush() {
					yield(it, err)
				}
				return
			}
			if block = append(block, it); len(block) == blockItems && !flush() {
				return
			}
		}
		flush()
	}
}

// copyShown copies the files of some items that were not seen before.
func (s *Store) copyShown(ctx context.Context, from fs.FS, items []assay.Item, seen map[assay.Sum]bool) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	slots := make(chan struct{}, copies)
	for _, it := range items {
		for _, f := range it.Files {
			if f.Remote() || seen[f.Sum] {
				continue
			}
			seen[f.Sum] = true
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if err := s.copyFile(ctx, from, f); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	return failed
}

// copyFile keeps one file under its hash. One that was changed since it was looked at is an error.
func (s *Store) copyFile(ctx context.Context, from fs.FS, f assay.File) error {
	if s.Files == nil {
		return fmt.Errorf("keep %s: there is no place for files", f.Name)
	}
	kept, err := s.Files.Open(ctx, artifacts.Shown, f.Sum.String())
	if err == nil {
		whole := kept.Size() == f.Size
		if err := kept.Close(); whole || err != nil {
			return err
		}
		err = s.Files.Remove(ctx, artifacts.Shown, f.Sum.String())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := from.Open(f.Name)
	if err != nil {
		return fmt.Errorf("keep %s: %s", f.Name, assay.FileReason(err))
	}
	defer in.Close()
	err = artifacts.KeepShown(ctx, s.Files, f.Sum, in)
	if errors.Is(err, artifacts.ErrDamaged) {
		err = fmt.Errorf("keep %s: it was changed after it was looked at", f.Name)
	}
	return err
}

// OpenShown opens a file that requests of a run show. Where it is gone or was changed, it is kept again from the study's folder; one of
// which nothing is left is an *assay.LostFileError.
func (s *Store) OpenShown(ctx context.Context, run store.Run, sum assay.Sum) (io.ReadCloser, error) {
	if s.Files == nil {
		return nil, fmt.Errorf("there is no place for files")
	}
	for try := 1; ; try++ {
		f, err := artifacts.OpenShown(ctx, s.Files, sum)
		if err == nil {
			return f, nil
		}
		gone := errors.Is(err, fs.ErrNotExist)
		if !gone && !errors.Is(err, artifacts.ErrDamaged) {
			return nil, err // the place is away
		}
		file, err := read.File(ctx, s.Reader, run.No, sum)
		if err != nil {
			return nil, err
		}
		lost := &assay.LostFileError{File: file, Kept: "damaged"}
		if gone {
			lost.Kept = "gone"
		}
		if lost.First, err = s.keepAgain(ctx, run, file, gone); lost.First != "" {
			return nil, lost
		}
		if err != nil && (try == keepTries || ctx.Err() != nil) { // another one takes away what it saw damaged
			return nil, err
		}
	}
}

// keepTries is how often a file is kept again that others keep again at the same time.
const keepTries = 10

// keepAgain keeps a file that is gone or damaged from where it was when the run began, and returns why that cannot be; empty: it was done.
func (s *Store) keepAgain(ctx context.Context, run store.Run, f assay.File, gone bool) (why string, err error) {
	name := filepath.Join(run.Folder, filepath.FromSlash(f.Name))
	if s.Folder == nil {
		return name + " is not looked for here", nil
	}
	from := s.Folder(run.Folder)
	have, err := factsOf(from, f.Name)
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %s", name, assay.FileReason(err)), nil
	}
	if have.Sum != f.Sum {
		return name + " has other bytes than when the run began", nil
	}
	if !gone {
		if err := s.Files.Remove(ctx, artifacts.Shown, f.Sum.String()); err != nil {
			return "", err
		}
	}
	return "", s.copyFile(ctx, from, f)
}

func factsOf(from fs.FS, name string) (media.Facts, error) {
	in, err := from.Open(name)
	if err != nil {
		return media.Facts{}, err
	}
	defer in.Close()
	return media.Read(in)
}
