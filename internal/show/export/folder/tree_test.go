package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/show/export/folder"
)

func put(t *testing.T, tree *folder.Tree, name, text string) {
	t.Helper()
	f, err := tree.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if rel != "." {
			out = append(out, info.Mode().String()+" "+rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAFolderAppearsWhenItIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	tree, err := folder.NewTree(out, folder.Keep)
	if err != nil {
		t.Fatal(err)
	}
	put(t, tree, "a/b.txt", "x")
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there before it is whole: %v", err)
	}
	put(t, tree, folder.MarkFile, "{}")
	if err := tree.Commit(); err != nil {
		t.Fatal(err)
	}
	want := []string{"drwx------ out", "drwx------ out/a", "-rw------- out/a/b.txt", "-rw------- out/export.json"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if _, err := folder.NewTree(out, folder.Keep); !errors.Is(err, folder.ErrExists) {
		t.Errorf("what is there is kept: %v", err)
	}
	again, err := folder.NewTree(out, folder.Overwrite)
	if err != nil {
		t.Fatal(err)
	}
	put(t, again, folder.MarkFile, "{}")
	if err := again.Commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"drwx------ out", "-rw------- out/export.json"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderThatIsNotOursIsNeverReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.NewTree(dir, folder.Overwrite); !errors.Is(err, folder.ErrExists) {
		t.Errorf("it gives way: %v", err)
	}
}

func TestNoNameLeavesTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree, err := folder.NewTree(filepath.Join(dir, "out"), folder.Keep)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "a/../../x", "/x"} {
		if _, err := tree.Create(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	tree.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("an aborted folder leaves %v", got)
	}
}

func TestAFileAppearsWhenItIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x.csv")
	for _, c := range []struct {
		text   string
		commit bool
		want   string
	}{{"first", true, "first"}, {"second", false, "first"}, {"third", true, "third"}} {
		f, err := folder.NewFile(name, folder.Overwrite)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(c.text); err != nil {
			t.Fatal(err)
		}
		if c.commit {
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		f.Abort()
		got, err := os.ReadFile(name)
		if err != nil || string(got) != c.want {
			t.Errorf("after %q: %q, %v", c.text, got, err)
		}
	}
	if _, err := folder.NewFile(name, folder.Keep); !errors.Is(err, folder.ErrExists) {
		t.Errorf("what is there is kept: %v", err)
	}
	if diff := cmp.Diff([]string{"-rw------- x.csv"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}
