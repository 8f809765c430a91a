package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/examples"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// maxReport is what a report of an example may weigh: it is mailed.
const maxReport = 500_000

func TestReportsOfExamplesAreSmallAndWalkDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	do := func(t *testing.T, args ...string) {
		t.Helper()
		var out bytes.Buffer
		w := shell.World{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Env: func(string) (string, bool) { return "", false }, Now: time.Now, Disk: shell.Disk{Dir: dir}}
		if code := cli.Main(context.Background(), w); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, out.String())
		}
	}
	for _, e := range examples.All() {
		if err := os.CopyFS(filepath.Join(dir, e.Name), e.FS); err != nil {
			t.Fatal(err)
		}
		do(t, "run", e.Name+"/study.yaml", "--rehearse", "--yes", "--home", e.Name+"/home")
		do(t, "report", "--home", e.Name+"/home", "--out", e.Name+".html")
		text, err := os.ReadFile(filepath.Join(dir, e.Name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > maxReport {
			t.Errorf("%s: the report has %d bytes", e.Name, len(text))
		}
		leads(t, e.Name, string(text), e.Name != "writing-pairs") // there, items are compared: no lane has answers
	}
}

// leads fails where a link of a report leads nowhere, an anchor stands twice, or a grid with its items is missing.
func leads(t *testing.T, name, page string, grid bool) {
	t.Helper()
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("%s: the anchor %s stands twice", name, m[1])
		}
	}
	cells := 0
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] != 1 {
			t.Errorf("%s: the link #%s leads nowhere", name, m[1])
		}
		if strings.HasPrefix(m[1], "i") && strings.Contains(m[1], "-") {
			cells++
		}
	}
	if (cells > 0) != grid || strings.Contains(page, `class="asked"`) != grid {
		t.Errorf("%s: %d cells lead to their items, a question is shown: %v", name, cells, strings.Contains(page, `class="asked"`))
	}
}
