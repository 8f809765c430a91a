package export

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A log with more samples than a plain zip may have is read by others, and neither its samples nor its directory are held. It runs
// alone, for it measures what is held.
func TestALogOf70000SamplesIsWrittenWithoutBeingHeld(t *testing.T) {
	tree, err := NewTree(filepath.Join(t.TempDir(), "logs"), Keep)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newInspectFile(tree, "log", inspectZip)
	if err != nil {
		t.Fatal(err)
	}
	const samples = 70_000
	var before, after runtime.MemStats
	long := strings.Repeat("x", 200)
	for i := range samples {
		if i == 1000 { // what every log needs is there
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		text := fmt.Appendf(nil, `{"id":"%s%d"}`, long, i)
		if err := f.add(fmt.Sprintf("samples/%s%d_epoch_1.json", long, i), text, text); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 { // names alone have 15 MB
		t.Errorf("%d bytes more are held after %d samples", grown, samples)
	}
	if err := f.close([]byte(`{"version":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := tree.Commit(); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(filepath.Join(tree.name, "log.eval"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != samples+2 {
		t.Fatalf("%d members", len(z.File))
	}
	for _, i := range []int{0, samples - 1, samples, samples + 1} {
		in, err := z.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in) // which looks at size and checksum
		if err != nil {
			t.Fatal(err)
		}
		if i < samples && string(text) != fmt.Sprintf(`{"id":"%s%d"}`, long, i) || i == samples && bytes.Count(text, []byte("\n{")) != samples {
			t.Errorf("member %s: %.60s", z.File[i].Name, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(tree.name, "*")); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v)", left, err)
	}
}

func TestNumbersThatAreNoneAreReadAsNothing(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":[Infinity,-1]}`: `{"a":null,"b":null,"c":[null,-1]}`,
		`{"NaN":"NaN \" Infinity"}`:                 `{"NaN":"NaN \" Infinity"}`,
		`"\`:                                        `"\`, `"NaN`: `"NaN`, "": "", "-": "-", `"\\"NaN`: `"\\"null`,
	} {
		if got := string(strictJSON([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

// A zip that unpacks to far more than it is is not read on, however small its members are.
func TestAZipThatUnpacksToTooMuchIsNotReadOn(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 3 {
		m, err := w.Create(fmt.Sprint("samples/", i, ".json"))
		if err == nil {
			_, err = m.Write(bytes.Repeat([]byte(" "), 1000))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	budget := int64(2500)
	var got []error
	for _, f := range z.File {
		_, err := unpack(f, &budget)
		got = append(got, err)
	}
	if got[0] != nil || got[1] != nil || !errors.Is(got[2], errBomb) {
		t.Errorf("%v", got)
	}
}
