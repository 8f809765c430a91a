package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// tree writes all files under a folder into one text: tree DIR FILE ID.csv. What differs from run to run (the id that stands
// last in a CSV file, those of jobs, times) is replaced by a word; of the lines that went to a provider and came back their form is told, not the texts.
func tree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: tree DIR FILE ID.csv")
	}
	ids := strings.Fields(ts.ReadFile(args[2]))
	scrub := func(text string) string {
		text = strings.ReplaceAll(text, ids[len(ids)-1], "RUN")
		for _, s := range scrubs {
			text = s.what.ReplaceAllString(text, s.by)
		}
		return text
	}
	var files []string
	root := os.DirFS(ts.MkAbs(args[0]))
	ts.Check(fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err == nil && path.Ext(name) == ".jsonl" {
			text, err = forms(text)
		}
		files = append(files, scrub("== "+name+"\n"+string(text)))
		return err
	}))
	slices.Sort(files)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(files, "")), 0o600))
}

// forms tells the form of every line of JSON.
func forms(text []byte) ([]byte, error) {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, err
		}
		b.WriteString(form(v, 2) + "\n")
	}
	return []byte(b.String()), nil
}

var scrubs = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b\d{8}_\d{6}\b`), "STAMP"},
	{regexp.MustCompile(`"duration_seconds": [0-9.]+`), `"duration_seconds": SECONDS`},
	{regexp.MustCompile(`\b(batch|msgbatch)_[0-9A-Za-z]{20,}`), "JOB"},
	{regexp.MustCompile(`\r\n`), "\n"},
}

// form is the keys of a JSON value down to some depth.
func form(v any, depth int) string {
	m, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return "…"
	}
	var parts []string
	for k, x := range m {
		parts = append(parts, k+": "+form(x, depth-1))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}
