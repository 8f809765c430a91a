// Package artifactstest is the suite that every place of artifacts must pass, and an object store for tests.
package artifactstest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/artifacts"
)

// Suite holds a kind of place against the contract. Every call of the function opens the same place again, as another process
// would.
func Suite(t *testing.T, at func(t *testing.T) func() artifacts.Place) {
	for name, test := range map[string]func(*testing.T, func() artifacts.Place){
		"an artifact appears only when it is whole":      whole,
		"a cut download goes on at another process":      cut,
		"two writers do not meet":                        twoWriters,
		"many writers at once leave one artifact":        manyWriters,
		"other bytes replace nothing":                    otherBytes,
		"a packed run reads the same":                    pack,
		"a large artifact is read from any offset":       large,
		"its hash tells whether an artifact is whole":    hashed,
		"what is removed is gone":                        remove,
		"a log is read by others, and joined":            log,
		"a place is known by its mark":                   mark,
		"names are safe":                                 names,
		"what is written ends with its context or stays": ended,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, at(t))
		})
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, p artifacts.Place, name string) string {
	t.Helper()
	f, err := p.Open(t.Context(), "r1", name)
	ok(t, err)
	defer f.Close()
	text, err := io.ReadAll(f)
	ok(t, err)
	return string(text)
}

func write(t *testing.T, p artifacts.Place, name, text string) artifacts.Info {
	t.Helper()
	s, err := artifacts.Create(t.Context(), p, "r1", name)
	ok(t, err)
	add(t, s, text)
	info, err := s.Commit()
	ok(t, err)
	return info
}

func add(t *testing.T, s artifacts.Sink, text string) {
	t.Helper()
	_, err := io.WriteString(s, text)
	ok(t, err)
}

func begun(t *testing.T, p artifacts.Place, offset int64, validator, text string) artifacts.Sink {
	t.Helper()
	s, err := p.Sink(t.Context(), "r1", "out")
	ok(t, err)
	ok(t, s.Begin(offset, validator))
	add(t, s, text)
	return s
}

func isGone(t *testing.T, p artifacts.Place, name string) {
	t.Helper()
	if f, err := p.Open(t.Context(), "r1", name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, %v", name, f, err)
	}
}

func whole(t *testing.T, open func() artifacts.Place) {
	p, other := open(), open()
	isGone(t, p, "in.jsonl")
	s, err := p.Sink(t.Context(), "r1", "in.jsonl")
	ok(t, err)
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("written before it was begun")
	}
	ok(t, s.Begin(0, ""))
	add(t, s, "one\ntwo\n")
	isGone(t, other, "in.jsonl")
	got, err := s.Commit()
	ok(t, err)
	sum := sha256.Sum256([]byte("one\ntwo\n"))
	if d := cmp.Diff(artifacts.Info{Name: "in.jsonl", Size: 8, SHA256: hex.EncodeToString(sum[:])}, got); d != "" {
		t.Error(d)
	}
	write(t, p, "empty", "")
	if read(t, other, "in.jsonl") != "one\ntwo\n" || read(t, other, "empty") != "" {
		t.Error("another process reads something else")
	}
	line, err := artifacts.Line(t.Context(), other, "r1", "in.jsonl", 4, 3)
	ok(t, err)
	if string(line) != "two" {
		t.Errorf("line %q", line)
	}
	if _, err := artifacts.Line(t.Context(), other, "r1", "in.jsonl", 4, 30); err == nil {
		t.Error("a line beyond the end was read")
	}
	all, err := artifacts.Names(t.Context(), other, "r1")
	ok(t, err)
	if d := cmp.Diff([]string{"empty", "in.jsonl"}, all); d != "" {
		t.Error(d)
	}
	if all, err := artifacts.Names(t.Context(), other, "r2"); err != nil || len(all) > 0 {
		t.Errorf("names of no run: %v, %v", all, err)
	}
	if n, err := artifacts.Bytes(t.Context(), other, "r1"); err != nil || n < 8 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func cut(t *testing.T, open func() artifacts.Place) {
	ok(t, begun(t, open(), 0, "etag", "hello, ").Close())
	ok(t, begun(t, open(), 7, "etag", "wor").Close())
	s, err := open().Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, v := s.Held(); n != 10 || v != "etag" {
		t.Errorf("held %d, %q", n, v)
	}
	if err := s.Begin(11, "etag"); err == nil {
		t.Error("begun beyond what is held")
	}
	fresh := begun(t, open(), 0, "other", "HELLO")
	ok(t, fresh.Begin(2, "other")) // once more, from what it has itself
	ok(t, s.Begin(8, "etag"))
	add(t, s, "orld")
	info, err := s.Commit()
	ok(t, err)
	sum := sha256.Sum256([]byte("hello, world"))
	if info.Size != 12 || info.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("info %+v", info)
	}
	if got := read(t, open(), "out"); got != "hello, world" {
		t.Errorf("read %q", got)
	}
	add(t, fresh, "LLO")
	if fresh.Size() != 5 {
		t.Errorf("size %d", fresh.Size())
	}
	ok(t, fresh.Discard())
	if got := read(t, open(), "out"); got != "hello, world" {
		t.Errorf("after another was discarded: %q", got)
	}
}

func twoWriters(t *testing.T, open func() artifacts.Place) {
	one := begun(t, open(), 0, "etag", "hello, ")
	two := begun(t, open(), 0, "etag", "hel")
	add(t, one, "wor")
	add(t, two, "lo, world")
	want, err := two.Commit()
	ok(t, err)
	if got := read(t, open(), "out"); got != "hello, world" {
		t.Errorf("read %q", got)
	}
	add(t, one, "ld")
	got, err := one.Commit()
	ok(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := read(t, open(), "out"); got != "hello, world" {
		t.Errorf("read %q", got)
	}
}

func manyWriters(t *testing.T, open func() artifacts.Place) {
	const text = "the same bytes\n"
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				s, err := open().Sink(t.Context(), "r1", "out")
				if err == nil {
					n, v := s.Held()
					if v != "etag" {
						n = 0
					}
					err = s.Begin(n, "etag")
					if err == nil {
						_, err = io.WriteString(s, text[n:])
					}
				}
				if err == nil {
					_, err = s.Commit()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := read(t, open(), "out"); got != text {
		t.Errorf("read %q", got)
	}
}

func otherBytes(t *testing.T, open func() artifacts.Place) {
	for _, packed := range []bool{false, true} {
		late := begun(t, open(), 0, "etag", "hello, moon!")
		long := strings.Repeat("hello, world\n", 10_000)
		p := open()
		write(t, p, "out", long)
		if packed {
			ok(t, p.Pack(t.Context(), "r1"))
		}
		if _, err := late.Commit(); err == nil || !strings.Contains(err.Error(), "other bytes") {
			t.Errorf("packed %v: %v", packed, err)
		}
		if read(t, open(), "out") != long {
			t.Errorf("packed %v: it reads differently", packed)
		}
	}
}

func remove(t *testing.T, open func() artifacts.Place) {
	p := open()
	write(t, p, "a", "text")
	write(t, p, "ab", "text")
	ok(t, p.Remove(t.Context(), "r1", "a"))
	isGone(t, p, "a")
	isGone(t, open(), "a")
	ok(t, p.Remove(t.Context(), "r1", "a"))
	if read(t, open(), "ab") != "text" {
		t.Error("another artifact went with it")
	}
	var runs []string
	for run, err := range open().Runs(t.Context()) {
		ok(t, err)
		runs = append(runs, run)
	}
	if diff := cmp.Diff([]string{"r1"}, runs); diff != "" {
		t.Error("runs of which anything is kept:\n" + diff)
	}
	ok(t, begun(t, p, 0, "etag", "x").Close())
	ok(t, p.Remove(t.Context(), "r1", "out"))
	s, err := p.Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, _ := s.Held(); n != 0 {
		t.Errorf("held %d after it was removed", n)
	}
	ok(t, s.Close())
}

func log(t *testing.T, open func() artifacts.Place) {
	p := open()
	l, err := p.Log("r1", "live-7")
	ok(t, err)
	if _, err := open().Log("r1", "live-7"); err == nil {
		t.Error("a log has two writers")
	}
	_, err = l.Add([]byte("sent"), nil)
	ok(t, err)
	ok(t, l.Flush())
	if got := heads(t, open(), "live-7"); got != "sent " {
		t.Errorf("of what was flushed %q is there", got)
	}
	at, err := l.Add([]byte("got"), []byte("{\"a\":\n1}"))
	ok(t, err)
	ok(t, l.Sync())
	if got := heads(t, open(), "live-7"); got != "sent got " {
		t.Errorf("of what was synced %q is there", got)
	}
	if got, err := artifacts.Line(t.Context(), open(), "r1", "live-7", at, 8); err != nil || string(got) != "{\"a\":\n1}" {
		t.Errorf("%q, %v", got, err)
	}
	long := strings.Repeat("x", 70<<10)
	later, err := l.Add([]byte("got"), []byte(long))
	ok(t, err)
	size := l.Size()
	ok(t, l.Close())
	for _, pack := range []bool{false, true} {
		if pack {
			ok(t, open().Pack(t.Context(), "r1"))
		}
		for _, p := range []artifacts.Place{p, open()} {
			got, err := artifacts.Line(t.Context(), p, "r1", "live-7", later, int64(len(long)))
			if err != nil || string(got) != long || int64(len(read(t, p, "live-7"))) != size {
				t.Errorf("packed %v: %d bytes, %v", pack, len(got), err)
			}
		}
	}
}

// heads returns the heads of the records of a log.
func heads(t *testing.T, p artifacts.Place, name string) (all string) {
	t.Helper()
	file, err := p.Open(t.Context(), "r1", name)
	ok(t, err)
	defer file.Close()
	for r, err := range artifacts.Records(file) {
		ok(t, err)
		all += string(r.Head) + " "
	}
	return all
}

func mark(t *testing.T, open func() artifacts.Place) {
	if got, err := open().Probe(t.Context(), ""); got != "" || err != nil {
		t.Errorf("mark %q, %v", got, err)
	}
	got := make([]string, 5)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = open().Probe(t.Context(), "one"); err != nil || got[i] != "one" {
				t.Errorf("mark %q, %v", got[i], err)
			}
		})
	}
	wg.Wait()
	for _, id := range []string{"one", "two", ""} {
		if got, err := open().Probe(t.Context(), id); got != "one" || err != nil {
			t.Errorf("mark %q, %v", got, err)
		}
	}
	if open().String() == "" {
		t.Error("it does not say where it is")
	}
}

func names(t *testing.T, open func() artifacts.Place) {
	p := open()
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/etc/passwd", ".hidden", "a\x00b", "x.part", "x.zst",
		strings.Repeat("x", 201)} {
		if _, err := artifacts.Create(t.Context(), p, "r1", name); err == nil {
			t.Errorf("name %q was taken", name)
		}
		if _, err := artifacts.Create(t.Context(), p, name, "x"); err == nil && !strings.HasPrefix(name, "x.") {
			t.Errorf("run %q was taken", name)
		}
	}
	odd := artifacts.Name("../é /%2F?x=1&y+z#")
	write(t, p, odd, "text")
	if read(t, open(), odd) != "text" {
		t.Error("an odd name reads differently")
	}
	if all, err := artifacts.Names(t.Context(), open(), "r1"); err != nil || len(all) != 1 || all[0] != odd {
		t.Errorf("%q, %v", all, err)
	}
}

func ended(t *testing.T, open func() artifacts.Place) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := open().Sink(ctx, "r1", "out")
	ok(t, err)
	ok(t, s.Begin(0, "etag"))
	add(t, s, "hello")
	cancel()
	ok(t, s.Close())
	s, err = open().Sink(t.Context(), "r1", "out")
	ok(t, err)
	if n, _ := s.Held(); n != 5 {
		t.Errorf("held %d", n)
	}
	ok(t, s.Close())
	isGone(t, open(), "out")
}
