package artifacts_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
)

func newFolder(t *testing.T) *artifacts.Folder {
	t.Helper()
	f, err := artifacts.Open(filepath.Join(t.TempDir(), "runs"))
	ok(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, f *artifacts.Folder, run, name string) []byte {
	t.Helper()
	file, err := f.Open(t.Context(), run, name)
	ok(t, err)
	defer file.Close()
	text, err := io.ReadAll(file)
	ok(t, err)
	return text
}

func write(t *testing.T, f *artifacts.Folder, run, name string, text []byte) artifacts.Info {
	t.Helper()
	s, err := artifacts.Create(t.Context(), f, run, name)
	ok(t, err)
	_, err = s.Write(text)
	ok(t, err)
	info, err := s.Commit()
	ok(t, err)
	return info
}

func TestAFileAppearsOnlyWhenItIsWhole(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	s, err := artifacts.Create(t.Context(), f, "r1", "in.jsonl")
	ok(t, err)
	_, err = io.WriteString(s, "one\ntwo\n")
	ok(t, err)
	if _, err := f.Open(t.Context(), "r1", "in.jsonl"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the commit: %v", err)
	}
	got, err := s.Commit()
	ok(t, err)
	sum := sha256.Sum256([]byte("one\ntwo\n"))
	if d := cmp.Diff(artifacts.Info{Name: "in.jsonl", Size: 8, SHA256: hex.EncodeToString(sum[:])}, got); d != "" {
		t.Error(d)
	}
	if got := read(t, f, "r1", "in.jsonl"); string(got) != "one\ntwo\n" {
		t.Errorf("read %q", got)
	}
	names, err := artifacts.Names(t.Context(), f, "r1")
	ok(t, err)
	if d := cmp.Diff([]string{"in.jsonl"}, names); d != "" {
		t.Error(d)
	}
	line, err := artifacts.Line(t.Context(), f, "r1", "in.jsonl", 4, 3)
	ok(t, err)
	if string(line) != "two" {
		t.Errorf("line %q", line)
	}
	if _, err := artifacts.Line(t.Context(), f, "r1", "in.jsonl", 4, 30); err == nil {
		t.Error("a line beyond the end was read")
	}
}

func TestACutDownloadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	s, err := f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("written before it was begun")
	}
	ok(t, s.Begin(0, "etag-1"))
	_, err = io.WriteString(s, "hello, wor")
	ok(t, err)
	ok(t, s.Close())

	s, err = f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, v := s.Held(); n != 10 || v != "etag-1" {
		t.Errorf("held %d, %q", n, v)
	}
	if err := s.Begin(11, "etag-1"); err == nil {
		t.Error("begun beyond what is held")
	}
	ok(t, s.Begin(7, "etag-1"))
	_, err = io.WriteString(s, "world")
	ok(t, err)
	info, err := s.Commit()
	ok(t, err)
	sum := sha256.Sum256([]byte("hello, world"))
	if info.Size != 12 || info.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("info %+v", info)
	}
	if got := read(t, f, "r1", "out"); string(got) != "hello, world" {
		t.Errorf("read %q", got)
	}
}

func TestBytesThatMayNotHaveReachedTheDiskAreNotHeld(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs")
	f, err := artifacts.Open(dir)
	ok(t, err)
	defer f.Close()
	s, err := artifacts.Create(t.Context(), f, "r1", "out")
	ok(t, err)
	_, err = s.Write(bytes.Repeat([]byte("x"), 65<<20)) // one mark on the way
	ok(t, err)
	_, err = s.Write([]byte("more"))
	ok(t, err)
	// A kill: no Close. The next sink trusts the mark alone.
	next, err := f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, _ := next.Held(); n != 65<<20 {
		t.Errorf("held %d", n)
	}
	ok(t, next.Close())
	parts, err := filepath.Glob(filepath.Join(dir, "r1", "out.part", "*"))
	ok(t, err)
	for _, part := range parts {
		if !strings.HasSuffix(part, ".mark") {
			ok(t, os.Truncate(part, 5))
		}
	}
	next, err = f.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, _ := next.Held(); n != 0 {
		t.Errorf("held %d of a file that is shorter than its mark", n)
	}
	ok(t, next.Begin(0, ""))
	ok(t, next.Discard())
	if names, err := artifacts.Names(t.Context(), f, "r1"); err != nil || len(names) != 0 {
		t.Errorf("names %v, %v", names, err)
	}
}

func TestAPackedRunReadsTheSame(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	random := rand.New(rand.NewPCG(1, 2))
	texts := map[string][]byte{"empty": nil, "small": []byte("a line\n"), "large": nil}
	for range 200_000 {
		texts["large"] = append(texts["large"], byte('a'+random.IntN(20)), ' ', 'w', 'o', 'r', 'd', 's', '\n')
	}
	for name, text := range texts {
		write(t, f, "r1", name, text)
	}
	for range 2 { // packing again changes nothing
		ok(t, f.Pack(context.Background(), "r1"))
	}
	for name, text := range texts {
		if got := read(t, f, "r1", name); !bytes.Equal(got, text) {
			t.Errorf("%s reads differently", name)
		}
		raw, err := os.ReadFile(filepath.Join(f.String(), "r1", name+".zst"))
		ok(t, err)
		d, err := zstd.NewReader(nil)
		ok(t, err)
		if got, err := d.DecodeAll(raw, nil); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is not plain zstd: %v", name, err)
		}
		d.Close()
	}
	for range 50 {
		off := random.Int64N(int64(len(texts["large"]) - 100))
		if got, err := artifacts.Line(t.Context(), f, "r1", "large", off, 100); err != nil ||
			!bytes.Equal(got, texts["large"][off:off+100]) {
			t.Fatalf("at %d: %q, %v", off, got, err)
		}
	}
	names, err := artifacts.Names(t.Context(), f, "r1")
	ok(t, err)
	if d := cmp.Diff([]string{"empty", "large", "small"}, names); d != "" {
		t.Error(d)
	}
	ok(t, f.Remove(t.Context(), "r1", "large"))
	if _, err := f.Open(t.Context(), "r1", "large"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

func TestNoPathLeavesTheFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/etc/passwd", ".hidden", "a\x00b", "x.part", "x.zst",
		strings.Repeat("x", 201)} {
		if _, err := artifacts.Create(t.Context(), f, "r1", name); err == nil {
			t.Errorf("name %q was taken", name)
		}
		if _, err := artifacts.Create(t.Context(), f, name, "x"); err == nil && !strings.HasPrefix(name, "x.") {
			t.Errorf("run %q was taken", name)
		}
	}
	outside := t.TempDir()
	ok(t, os.Symlink(outside, filepath.Join(f.String(), "r2")))
	if _, err := artifacts.Create(t.Context(), f, "r2", "x"); err == nil {
		t.Error("a link led out of the folder")
	}
}

func TestNamesAreSafeAndTellIdsApart(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, want string }{{"q-1.a_B", "q-1.a_B"}, {"a/b c", "a%2Fb%20c"}, {"..", "%2E."}, {"", "%"}, {"%41", "%2541"},
		{"é", "%C3%A9"}}
	for _, tt := range tests {
		if got := artifacts.Name(tt.id); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.id, got, tt.want)
		}
	}
}

func FuzzNameIsSafeAndReversible(f *testing.F) {
	for _, s := range []string{"", ".", "a/../b", "%2F", "\x00\xff", "Ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name := artifacts.Name(id)
		if strings.ContainsAny(name, "/\\\x00") || name == "" || name[0] == '.' {
			t.Fatalf("%q became %q", id, name)
		}
		if id == "" {
			return
		}
		var back []byte
		for i := 0; i < len(name); i++ {
			if name[i] != '%' {
				back = append(back, name[i])
				continue
			}
			b, err := hex.DecodeString(name[i+1 : i+3])
			ok(t, err)
			back = append(back, b...)
			i += 2
		}
		if string(back) != id {
			t.Fatalf("%q became %q, which reads %q", id, name, back)
		}
	})
}

func FuzzAPackedFileFromElsewhereIsRefusedOrRead(f *testing.F) {
	f.Add([]byte("not packed at all, but long enough"))
	f.Add([]byte{0x5E, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F})
	f.Fuzz(func(t *testing.T, raw []byte) {
		folder := newFolder(t)
		ok(t, os.MkdirAll(filepath.Join(folder.String(), "r"), 0o700))
		ok(t, os.WriteFile(filepath.Join(folder.String(), "r", "x.zst"), raw, 0o600))
		file, err := folder.Open(t.Context(), "r", "x")
		if err != nil {
			return
		}
		defer file.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(file, 1<<20))
	})
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	write(t, f, "r1", "a", []byte("x"))
	write(t, f, "r1", "b", []byte("x"))
	ok(t, f.Pack(context.Background(), "r1"))
	l, err := f.Log("r1", "live")
	ok(t, err)
	ok(t, l.Close())
	_, err = f.Sink(t.Context(), "r1", "c")
	ok(t, err)
	ok(t, filepath.WalkDir(f.String(), func(path string, d fs.DirEntry, err error) error {
		ok(t, err)
		info, err := d.Info()
		ok(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	}))
}

func TestASharedFolderIsProbedAndKnownByItsMark(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	if got, err := f.Probe(t.Context(), ""); got != "" || err != nil {
		t.Errorf("mark %q, %v", got, err)
	}
	for _, id := range []string{"one", "two"} {
		got, err := f.Probe(t.Context(), id)
		ok(t, err)
		if got != "one" {
			t.Errorf("mark %q", got)
		}
	}
	if names, err := artifacts.Names(t.Context(), f, "none"); err != nil || names != nil {
		t.Errorf("names of no run: %v, %v", names, err)
	}
	ok(t, os.RemoveAll(f.String()))
	if _, err := f.Probe(t.Context(), ""); err == nil {
		t.Error("a folder that is gone passed the probe")
	}
}

func TestADamagedFileIsNotShown(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	sum := assay.Sum(sha256.Sum256([]byte("a picture")))
	for name, c := range map[string]struct {
		text    string
		damaged bool
	}{"whole": {"a picture", false}, "cut": {"a pict", true}, "another": {"a pixture", true}} {
		ok(t, f.Remove(t.Context(), artifacts.Shown, sum.String()))
		write(t, f, artifacts.Shown, sum.String(), []byte(c.text))
		file, err := artifacts.OpenShown(t.Context(), f, sum)
		if c.damaged != errors.Is(err, artifacts.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if c.damaged {
			continue
		}
		if got, err := io.ReadAll(file); string(got) != c.text || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		ok(t, file.Close())
	}
	ok(t, f.Remove(t.Context(), artifacts.Shown, sum.String()))
	if err := artifacts.KeepShown(t.Context(), f, sum, strings.NewReader("a pixture")); !errors.Is(err, artifacts.ErrDamaged) {
		t.Errorf("other bytes are kept: %v", err)
	}
	if _, err := f.Open(t.Context(), artifacts.Shown, sum.String()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("other bytes are there: %v", err)
	}
}
