package inputs

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// counting counts how often each file is opened to be read.
type counting struct {
	fs.FS
	opened map[string]int
}

func (c *counting) Open(name string) (fs.File, error) {
	if c.opened == nil {
		c.opened = map[string]int{}
	}
	c.opened[name]++
	return c.FS.Open(name)
}

func (c *counting) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

// endless is a file system with one file that is made while it is read.
type endless struct {
	name  string
	parts []repeated
}

// repeated is a text, many times over.
type repeated struct {
	text  string
	times int
}

func (e endless) Open(string) (fs.File, error) { return &endlessFile{endless: e}, nil }

type endlessFile struct {
	endless
	rest string
}

func (f *endlessFile) Read(b []byte) (int, error) {
	for len(f.rest) == 0 {
		switch {
		case len(f.parts) == 0:
			return 0, io.EOF
		case f.parts[0].times == 0:
			f.parts = f.parts[1:]
		default:
			f.parts = append([]repeated{{f.parts[0].text, f.parts[0].times - 1}}, f.parts[1:]...)
			f.rest = f.parts[0].text
		}
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *endlessFile) Close() error               { return nil }
func (f *endlessFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *endlessFile) Name() string               { return f.name }
func (f *endlessFile) Size() int64                { return 0 }
func (f *endlessFile) Mode() fs.FileMode          { return 0 }
func (f *endlessFile) ModTime() time.Time         { return time.Time{} }
func (f *endlessFile) IsDir() bool                { return false }
func (f *endlessFile) Sys() any                   { return nil }

// TestALineOf160MegabytesIsAProblemAndNotHeld runs alone, for it measures what is allocated.
func TestALineOf160MegabytesIsAProblemAndNotHeld(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	long := repeated{chunk, 160}
	tests := []struct {
		file   string
		parts  []repeated
		want   []string
		wanted int // good items
	}{
		{"a.jsonl", []repeated{{`{"n":1}` + "\n" + `{"n":"`, 1}, long, {"\"}\n{\"n\":3}\n", 1}},
			[]string{"a.jsonl:2: the line is longer than 32 MB"}, 2},
		{"a.txt", []repeated{{"one\n", 1}, long, {"\ntwo", 1}}, []string{"a.txt:2: the line is longer than 32 MB"}, 2},
		{"a.md", []repeated{long}, []string{"a.md:1:1: the value is longer than 32 MB"}, 0},
		{"a.csv", []repeated{{"text\none\n", 1}, long, {"\ntwo\n", 1}}, []string{"a.csv:3: the line is longer than 32 MB"}, 2},
		{"b.csv", []repeated{{"text\none\n\"", 1}, {chunk + "\n", 160}, {"\ntwo\n", 1}},
			[]string{"b.csv:3:1: the quoted field that begins here is longer than 32 MB (is its closing quote missing?)"}, 1},
		{"a.json", []repeated{{`["one", "`, 1}, long, {`", "three"]`, 1}}, []string{"a.json:1:9: the element is longer than 32 MB"}, 2},
		{"b.json", []repeated{{`{"text":"`, 1}, long, {`"}`, 1}}, []string{"b.json:1:1: the value is longer than 32 MB"}, 0},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			s := Open(endless{test.file, test.parts}, map[string]Spec{"in": {File: test.file}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var got []string
			good := 0
			for _, err := range s.stream(t.Context(), s.specs["in"]) {
				if err != nil {
					got = append(got, err.Error())
				} else {
					good++
				}
			}
			runtime.ReadMemStats(&after)
			same(t, test.want, got)
			same(t, test.wanted, good)
			// Buffers double up to the cap of 32 MB: all of them together are at most three times the cap, and a line more.
			if all := after.TotalAlloc - before.TotalAlloc; all > 128<<20 {
				t.Errorf("allocated %d MB for a line of 160 MB", all>>20)
			}
		})
	}
}

func TestHashesAreASetOfSixteenBytesEach(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var h hashes
	known := map[uint64]bool{}
	for i := range 200_000 {
		x := random.Uint64() >> (random.UintN(3) * 20) // some in the lower bits alone
		if got := h.add(x); got == known[x] {
			t.Fatalf("hash %d: add returns %v", x, got)
		}
		known[x] = true
		if i > 20_000 && i%1000 == 0 && bytesOf(&h) > 16*len(known) {
			t.Fatalf("%d bytes for %d hashes", bytesOf(&h), len(known))
		}
	}
	first := h.add(0)
	again := h.add(0)
	same(t, true, first != again)
	same(t, true, h.has(0))
	for x := range known {
		if !h.has(x) {
			t.Fatalf("hash %d is lost", x)
		}
	}
	for range 1000 {
		if x := random.Uint64(); h.has(x) != known[x] {
			t.Fatalf("hash %d is there", x)
		}
	}
}

func bytesOf(h *hashes) int {
	n := 0
	for i := range h.parts {
		n += 8 * cap(h.parts[i].slots)
	}
	return n
}

func TestTwoEqualIDsAmongManyAreFound(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("id\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "item-%d\n", i)
	}
	b.WriteString("item-31415\n")
	same(t, []string{`a.csv:100002: the id "item-31415" also stands at a.csv:31417 (ids must differ)`},
		reported(t, one(map[string]string{"a.csv": b.String()}, Spec{File: "a.csv"})))
}

func TestATroubledDiskIsAProblemWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.txt", "a.md", "a.csv", "a.jsonl", "a.json"} {
		s := Open(broken{}, map[string]Spec{"in": {File: name}})
		var last error
		for _, err := range s.stream(t.Context(), s.specs["in"]) {
			last = err
		}
		if last == nil || !strings.HasPrefix(last.Error(), name) || !strings.Contains(last.Error(), "input/output error") {
			t.Errorf("%s: %v", name, last)
		}
	}
}

// broken is a file system whose files fail after one line.
type broken struct{}

func (broken) Open(name string) (fs.File, error) {
	return &brokenFile{endlessFile{endless: endless{name, []repeated{{"[\"a\",\n", 1}}}}}, nil
}

type brokenFile struct{ endlessFile }

func (f *brokenFile) Stat() (fs.FileInfo, error) { return f, nil }

func (f *brokenFile) Read(b []byte) (int, error) {
	n, err := f.endlessFile.Read(b)
	if err == io.EOF {
		err = fmt.Errorf("input/output error")
	}
	return n, err
}
