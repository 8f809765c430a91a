package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
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
		return kept.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := from.Open(f.Name)
	if err != nil {
		return fmt.Errorf("keep %s: %s", f.Name, assay.FileReason(err))
	}
	defer in.Close()
	sink, err := artifacts.Create(ctx, s.Files, artifacts.Shown, f.Sum.String())
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err = io.Copy(io.MultiWriter(sink, sum), in); err == nil && assay.Sum(sum.Sum(nil)) != f.Sum {
		err = fmt.Errorf("keep %s: it was changed after it was looked at", f.Name)
	}
	if err != nil {
		return errors.Join(err, sink.Discard())
	}
	_, err = sink.Commit()
	return err
}

// OpenShown opens a file that requests show.
func (s *Store) OpenShown(sum assay.Sum) (io.ReadCloser, error) {
	if s.Files == nil {
		return nil, fmt.Errorf("there is no place for files")
	}
	return artifacts.OpenShown(context.Background(), s.Files, sum)
}
