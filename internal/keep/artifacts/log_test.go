package artifacts_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/artifacts"
)

// heads returns the heads of the whole records of a log, each with its body.
func heads(t *testing.T, f *artifacts.Folder, name string) []string {
	t.Helper()
	file, err := f.Open(t.Context(), "r1", name)
	ok(t, err)
	defer file.Close()
	var all []string
	for r, err := range artifacts.Records(file) {
		ok(t, err)
		line, err := artifacts.Line(t.Context(), f, "r1", name, r.Offset, int64(len(r.Body)))
		ok(t, err)
		if string(line) != string(r.Body) {
			t.Errorf("%s: %q is at its offset, want %q", r.Head, line, r.Body)
		}
		all = append(all, string(r.Head)+"="+string(r.Body))
	}
	return all
}

func TestALogThatAKillCutIsReadUpToThere(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	l, err := f.Log("r1", "live")
	ok(t, err)
	long := strings.Repeat("x", 300<<10) // more than any buffer
	for _, r := range [][2]string{{`{"sent":1}`, ""}, {`{"got":1}`, "{\"a\":\n1}"}, {long, long}, {"last", "bytes"}} {
		_, err := l.Add([]byte(r[0]), []byte(r[1]))
		ok(t, err)
	}
	ok(t, l.Close())
	at := filepath.Join(f.String(), "r1", "live")
	whole, err := os.ReadFile(at)
	ok(t, err)
	want := []string{`{"sent":1}=`, "{\"got\":1}={\"a\":\n1}", long + "=" + long, "last=bytes"}
	if d := cmp.Diff(want, heads(t, f, "live")); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{
		"a cut body": string(whole[:len(whole)-3]), "a cut head": string(whole[:len(whole)-10]),
		"other bytes": strings.Replace(string(whole), "bytes", "bites", 1), "another head": strings.Replace(string(whole), "last", "mast",
			1), "zeros": string(whole[:len(whole)-10]) + strings.Repeat("\x00", 10),
	} {
		ok(t, os.WriteFile(at, []byte(text), 0o600))
		if d := cmp.Diff(want[:3], heads(t, f, "live")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestALogHasOneWriterForEver(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	l, err := f.Log("r1", "live-7")
	ok(t, err)
	if _, err := f.Log("r1", "live-7"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("opened again: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for k := range 50 {
				_, err := l.Add(fmt.Appendf(nil, "%d-%d", i, k), []byte("body"))
				if k%10 == 0 {
					err = errors.Join(err, l.Sync())
				}
				if err := errors.Join(err, l.Flush()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(heads(t, f, "live-7")); n != 1000 {
		t.Errorf("%d records are there", n)
	}
	size := l.Size()
	ok(t, l.Close())
	if st, err := os.Stat(filepath.Join(f.String(), "r1", "live-7")); err != nil || st.Size() != size {
		t.Errorf("%v, %v: it says %d bytes", st, err, size)
	}
}

func TestNothingIsAddedBehindAFailedWrite(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	l, err := f.Log("r1", "live")
	ok(t, err)
	_, err = l.Add([]byte("one"), nil)
	ok(t, err)
	ok(t, l.Sync())
	ok(t, l.Close()) // no write comes through any more
	for range 2 {
		if _, err := l.Add([]byte("two"), nil); err == nil {
			err = l.Flush()
			if err == nil || l.Sync() == nil {
				t.Error("a write failed, and nothing was said")
			}
		}
	}
	if d := cmp.Diff([]string{"one="}, heads(t, f, "live")); d != "" {
		t.Error(d)
	}
}

func TestRawBytesAreHeldAgainstTheirSum(t *testing.T) {
	t.Parallel()
	if err := errors.Join(artifacts.Verify([]byte("text"), artifacts.Sum([]byte("text"))),
		artifacts.Verify([]byte("text"), 0)); err != nil {
		t.Error(err)
	}
	if err := artifacts.Verify([]byte("test"), artifacts.Sum([]byte("text"))); !errors.Is(err, artifacts.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
