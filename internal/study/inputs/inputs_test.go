package inputs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
)

// tree makes a file system of paths and contents.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for path, content := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

var studyPlace = assay.Place{File: "study.yaml", Line: 3, Col: 5}

// one returns a source with a single input named `in`.
func one(files map[string]string, spec Spec) *Source {
	spec.At = studyPlace
	return Open(tree(files), map[string]Spec{"in": spec})
}

func items(t *testing.T, s *Source, name string) []assay.Item {
	t.Helper()
	var out []assay.Item
	for it, err := range s.Items(t.Context(), name) {
		if err != nil {
			t.Fatalf("input %s: %v", name, err)
		}
		out = append(out, it)
	}
	return out
}

func ids(t *testing.T, s *Source, name string) []string {
	t.Helper()
	var out []string
	for _, it := range items(t, s, name) {
		out = append(out, it.ID)
	}
	return out
}

// reported returns the problems of a check, as a user reads them.
func reported(t *testing.T, s *Source) []string {
	t.Helper()
	var out []string
	for _, p := range s.Check(t.Context()) {
		out = append(out, p.String())
	}
	return out
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestItemsOfAnUnknownInputAreAnError(t *testing.T) {
	t.Parallel()
	for _, err := range Open(tree(nil), nil).Items(t.Context(), "nothing") {
		if err == nil || !strings.Contains(err.Error(), `"nothing"`) {
			t.Fatalf("error %v does not name the input", err)
		}
		return
	}
	t.Fatal("no error")
}

func TestItemsEndAfterTheFirstProblem(t *testing.T) {
	t.Parallel()
	s := one(map[string]string{"a.jsonl": "{}\n{\n{}\n"}, Spec{File: "a.jsonl"})
	var got []string
	for it, err := range s.Items(t.Context(), "in") {
		var problems assay.Problems
		switch {
		case errors.As(err, &problems):
			got = append(got, "problem at "+problems[0].Place.String())
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, it.ID)
		}
	}
	same(t, []string{"1", "problem at a.jsonl:2:2"}, got)
}

func TestTheSequenceOfItemsCanBeLeftEarlyAndReadAgain(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"d/a.csv": "id,text\n1,x\n2,y\n", "d/b.json": `["p","q"]`, "d/c.jsonl": "\"r\"\n\"s\"\n", "d/e.json": `{"inputs":["u","v"]}`,
		"d/f.txt": "w",
	}
	s := one(files, Spec{File: "d"})
	all := ids(t, s, "in")
	same(t, []string{"1", "2", "b-1", "b-2", "c-1", "c-2", "e-1", "e-2", "f"}, all)
	for stop := range all {
		n := 0
		for it, err := range s.Items(t.Context(), "in") {
			if err != nil {
				t.Fatal(err)
			}
			same(t, all[n], it.ID)
			if n++; n > stop {
				break
			}
		}
	}
}

func TestACancelledReadingEndsWithItsError(t *testing.T) {
	t.Parallel()
	s := one(map[string]string{"a.txt": strings.Repeat("x\n", 1000)}, Spec{File: "a.txt"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Items(ctx, "in") {
		cancel()
		n++
		last = err
	}
	if n > 100 || !errors.Is(last, ctx.Err()) {
		t.Errorf("%d items, last error %v", n, last)
	}
	if p := s.Check(ctx); len(p) == 0 || !strings.Contains(p[0].What, "canceled") {
		t.Errorf("check reported %v", p)
	}
}

func TestCountAndDigestFollowTheItemsNotTheirPlaces(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "one\ntwo\n", "b.txt": "# a comment\n\none\r\ntwo", "c.txt": "one\ntwo!\n"}
	s := Open(tree(files), map[string]Spec{"a": {File: "a.txt"}, "b": {File: "b.txt"}, "c": {File: "c.txt"}})
	digests := map[string]string{}
	for name := range files {
		name = strings.TrimSuffix(name, ".txt")
		n, err := s.Count(t.Context(), name)
		if err != nil || n != 2 {
			t.Errorf("count of %s is %d, %v", name, n, err)
		}
		if digests[name], err = s.Digest(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	same(t, digests["a"], digests["b"])
	same(t, "4ad4ee01aa219b1e6e6fc641641f7fd054104f59f4b1c85610cb7ef7566de981", digests["a"]) // of two lines written by hand
	if digests["a"] == digests["c"] {
		t.Error("another text has the same digest")
	}
}
