package driving

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
)

func TestNoTwoModelsHaveOneLane(t *testing.T) {
	t.Parallel()
	lanes := map[string]string{}
	for _, model := range []string{"x/m:8b", "x/m-8b", "x/m/8b", "x-m/8b", "x/m 8b", "x/ä", "x/ö"} {
		lane := laneOf(model)
		if other, taken := lanes[lane]; taken {
			t.Errorf("%s and %s are both lane %s", model, other, lane)
		}
		lanes[lane] = model
	}
	if lane := laneOf("openai/gpt-4.1"); lane != "openai-gpt-4.1" {
		t.Errorf("a usual model is lane %s", lane)
	}
}

func TestComparedTextsHaveNamesThatMeanOneThing(t *testing.T) {
	t.Parallel()
	for _, c := range [][2][2]string{
		{{"a.txt", "b.txt"}, {"a.txt", "b.txt"}},
		{{"tie", "b.txt"}, {"./tie", "b.txt"}},
		{{"standard input", "standard input"}, {"standard input (A)", "standard input (B)"}},
	} {
		two := namedApart([2]side{{name: c[0][0]}, {name: c[0][1]}})
		if d := cmp.Diff(c[1], [2]string{two[0].name, two[1].name}); d != "" {
			t.Error(d)
		}
	}
}

// Two commands at once about the same texts, with other judges: each reads the study that it wrote.
func TestTwoComparisonsAtOnceHaveFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &shell.World{Disk: workspace.Disk{Dir: dir}, Env: func(string) (string, bool) { return "", false }, Now: time.Now}
	two := [2]side{{name: "a", id: "1", text: "x"}, {name: "b", id: "2", text: "y"}}
	var texts []string
	var names []string
	for _, f := range []judgeFlags{{judges: []string{"openai/gpt-4.1"}, order: bothOrders},
		{judges: []string{"openai/gpt-5"}, order: bothOrders}, {judges: []string{"openai/gpt-5"}, order: "as-given"}} {
		name, err := f.write(w, two)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	seen := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(w.Disk.Path(name))
		if err != nil || seen[string(text)] || filepath.Dir(name) != filepath.Dir(names[0]) {
			t.Errorf("%s: %v", name, err)
		}
		seen[string(text)] = true
		texts = append(texts, string(text))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "comparisons", "*", ".new-*")); err != nil || len(left) > 0 || len(texts) != 3 {
		t.Error(left, err)
	}
}
