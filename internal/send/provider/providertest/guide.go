package providertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/catalog"
)

// Guide is docs/dev/add-a-provider.md taken apart, so that tests can follow it.
type Guide struct {
	Files []string          // the files it names
	Code  map[string]string // what it puts into them, by file
	root  string
}

var (
	fileNames = regexp.MustCompile("`([a-z_]+(?:/[a-z_-]+)*\\.(?:go|yaml|md))`")
	fences    = regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$")
)

// ReadGuide reads the guide under the repository's root. A block of code belongs to the file that was named last before it.
func ReadGuide(t testing.TB, root string) Guide {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "dev", "add-a-provider.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	g := Guide{Code: map[string]string{}, root: root}
	for _, m := range fileNames.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(g.Files, m[1]) {
			g.Files = append(g.Files, m[1])
		}
	}
	for _, at := range fences.FindAllStringSubmatchIndex(text, -1) {
		before := fileNames.FindAllStringSubmatch(text[:at[0]], -1)
		if len(before) == 0 {
			t.Fatalf("a block of the guide belongs to no file: %s", text[at[2]:at[3]])
		}
		name := before[len(before)-1][1]
		g.Code[name] += text[at[2]:at[3]]
	}
	return g
}

// Catalog returns the built-in catalogue with the guide's rows behind its own.
func (g Guide) Catalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	files := fstest.MapFS{}
	data := os.DirFS(filepath.Join(g.root, "internal", "study", "catalog"))
	err := fs.WalkDir(data, "data", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(data, name)
		files[name] = &fstest.MapFile{Data: append(text, g.Code["internal/study/catalog/"+name]...)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := catalog.Pack(files)
	if err != nil {
		t.Fatalf("the rows of the guide: %v", err)
	}
	c, err := catalog.Unpack(text)
	if err != nil {
		t.Fatalf("the rows of the guide: %v", err)
	}
	return c
}

// Field returns the value of a Go field or the first text in the guide's code for a file, such as Kind in {Kind: "x"}.
func (g Guide) Field(t testing.TB, file, field string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(field) + `"([^"]*)"`).FindStringSubmatch(g.Code[file])
	if m == nil {
		t.Fatalf("the guide's code for %s has no %q: %s", file, field, strings.TrimSpace(g.Code[file]))
	}
	return m[1]
}
