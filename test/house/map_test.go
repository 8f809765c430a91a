package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The map shows where something new goes: the files are there, and the lists that it names are in them.
func TestTheMapNamesFilesThatAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/dev/map.md")
	if err != nil {
		t.Fatal(err)
	}
	_, journeys, ok := strings.Cut(string(text), "**Adding something.**")
	if !ok {
		t.Fatal("the map has no journeys")
	}
	journeys, _, _ = strings.Cut(journeys, "\n## ")
	named := regexp.MustCompile("`([a-z]+(?:/[a-z_]+)*/?(?:[a-z_]+\\.(?:go|md))?)`").FindAllStringSubmatch(journeys, -1)
	files := 0
	for _, m := range named {
		if !strings.Contains(m[1], "/") {
			continue
		}
		files++
		if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
			t.Errorf("docs/dev/map.md: %v", err)
		}
	}
	if files < 15 {
		t.Errorf("the map names %d files, want at least 15", files)
	}
	for _, m := range regexp.MustCompile("line of `(\\w+)` in `([a-z/]+\\.go)`").FindAllStringSubmatch(journeys, -1) {
		code, err := os.ReadFile(filepath.FromSlash(m[2]))
		if err != nil || !strings.Contains(string(code), "func "+m[1]+"(") {
			t.Errorf("docs/dev/map.md: %s has no list %s (%v)", m[2], m[1], err)
		}
	}
}

func TestTheMapNamesEveryPackage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/dev/map.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, _, _ := strings.Cut(string(text), "## The life of one request")
	for pkg := range layers {
		if !regexp.MustCompile("[`/]"+path.Base(pkg)+"`").MatchString(rows) && !strings.Contains(pkg, "testsum") && pkg != "examples" {
			t.Errorf("docs/dev/map.md does not name package %s", pkg)
		}
	}
}
