package artifacts_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/artifacts"
)

func begun(t *testing.T, f *artifacts.Folder, offset int64, texts ...string) artifacts.Sink {
	t.Helper()
	s, err := f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	ok(t, s.Begin(offset, "etag"))
	add(t, s, texts...)
	return s
}

func add(t *testing.T, s artifacts.Sink, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := io.WriteString(s, text)
		ok(t, err)
	}
}

// entries lists what lies in the folder of a run.
func entries(t *testing.T, f *artifacts.Folder) []string {
	t.Helper()
	var names []string
	ok(t, fs.WalkDir(os.DirFS(filepath.Join(f.String(), "r1")), ".", func(name string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestTwoWritersOfOneArtifactDoNotMeet(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	one := begun(t, f, 0, "hello, ")
	two := begun(t, f, 0, "hel")
	add(t, one, "wor")
	add(t, two, "lo, world")
	want, err := two.Commit()
	ok(t, err)
	if got := read(t, f, "r1", "out"); string(got) != "hello, world" {
		t.Errorf("read %q", got)
	}
	add(t, one, "ld")
	got, err := one.Commit()
	ok(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"out"}, entries(t, f)); d != "" {
		t.Error(d)
	}
}

func TestALateWriterWithOtherBytesReplacesNothing(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	for _, pack := range []bool{false, true} {
		late := begun(t, f, 0, "hello, moon!")
		write(t, f, "r1", "out", []byte("hello, world"))
		if pack {
			ok(t, f.Pack(context.Background(), "r1"))
		}
		if _, err := late.Commit(); err == nil || !strings.Contains(err.Error(), "other bytes") {
			t.Errorf("packed %v: %v", pack, err)
		}
		if got := read(t, f, "r1", "out"); string(got) != "hello, world" {
			t.Errorf("packed %v: read %q", pack, got)
		}
	}
	late := begun(t, f, 0, "hello")
	ok(t, f.Remove(t.Context(), "r1", "out"))
	if _, err := late.Commit(); err == nil {
		t.Error("an artifact that was removed meanwhile was committed")
	}
}

func TestAWriterGoesOnFromACopyOfWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	ok(t, begun(t, f, 0, "hello, ").Close())
	stopped := begun(t, f, 7, "wor")
	ok(t, stopped.Close()) // its mark is there, as after 64 MiB; below it is taken up again
	two, err := f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, v := two.Held(); n != 10 || v != "etag" {
		t.Errorf("held %d, %q", n, v)
	}
	three, err := f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	ok(t, three.Begin(0, "other"))
	add(t, three, "HELLO")
	ok(t, three.Begin(2, "other")) // once more, from what it has itself
	add(t, three, "llo, world")
	ok(t, two.Begin(7, "etag"))
	add(t, two, "world")
	info, err := two.Commit()
	ok(t, err)
	if got := read(t, f, "r1", "out"); string(got) != "hello, world" || info.Size != 12 {
		t.Errorf("read %q, %d bytes", got, info.Size)
	}
	ok(t, three.Begin(0, "more")) // the parts are gone, and with them nothing that matters
	add(t, three, "hello, world")
	_, err = three.Commit()
	ok(t, err)
	if d := cmp.Diff([]string{"out"}, entries(t, f)); d != "" {
		t.Error(d)
	}
}

func TestPackingRemovesWhatWritersLeft(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	ok(t, begun(t, f, 0, "hello").Close())
	ok(t, f.Pack(context.Background(), "r1"))
	if got := entries(t, f); len(got) != 2 {
		t.Errorf("a part that may have a writer is gone: %v", got)
	}
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range entries(t, f) {
		ok(t, os.Chtimes(filepath.Join(f.String(), "r1", name), old, old))
	}
	ok(t, f.Pack(context.Background(), "r1"))
	if got := entries(t, f); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if _, err := f.Open(t.Context(), "r1", "out"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished artifact was opened: %v", err)
	}
}

func TestAChangedByteIsNoticedByItsWriterToo(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	first := begun(t, f, 0, "hello, ")
	ok(t, first.Close())
	second := begun(t, f, 7, "world") // its beginning is copied
	info, err := second.Commit()
	ok(t, err)
	for _, tt := range []struct {
		text string
		want bool
	}{{"hello, world", true}, {"hello, World", false}, {"hello, worl", false}, {"", false}} {
		ok(t, os.WriteFile(filepath.Join(f.String(), "r1", "out"), []byte(tt.text), 0o600))
		if got, err := artifacts.Whole(t.Context(), f, "r1", "out", info.SHA256); got != tt.want || err != nil {
			t.Errorf("%q is whole: %v, %v", tt.text, got, err)
		}
	}
}
