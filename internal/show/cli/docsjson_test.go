package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fieldsOf adds the paths of all fields of a JSON value.
func fieldsOf(v any, at string, out map[string]bool) {
	out[at] = true
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			fieldsOf(x, strings.TrimPrefix(at+"."+k, "."), out)
		}
	case []any:
		out[at+"[]"] = true
		for _, x := range v {
			fieldsOf(x, at+"[]", out)
		}
	}
}

// TestTheJSONThatThePageNamesIsPrinted runs every command of docs/data.md on a rehearsal, and looks for the fields of its table.
func TestTheJSONThatThePageNamesIsPrinted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	c := reader(t)
	c.run(0, "run", "study.yaml", "--rehearse", "--limit", "12") // quotes need ten items
	file := "votes.csv"
	if err := os.WriteFile(c.dir+"/"+file, []byte("a,b,winner\nx,y,x\ny,z,y\nz,x,x\nx,y,y\nz,y,z\nx,z,z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, part := range strings.Split(string(text), "\n### `assay ")[1:] {
		part, _, _ = strings.Cut(part, "\n## ")
		head, table, _ := strings.Cut(part, "`")
		commands++
		put := strings.NewReplacer("STUDY", "study.yaml", "RUN", "start", "KEY", c.key(), "FILE", file)
		code, out := c.typeIt("assay " + put.Replace(head))
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s", head, code, out)
			continue
		}
		fields := map[string]bool{}
		dec := json.NewDecoder(strings.NewReader(out[strings.IndexAny(out, "{["):]))
		for dec.More() {
			var v any
			if err := dec.Decode(&v); err != nil {
				break // what is said to people stands beside it here
			}
			fieldsOf(v, "", fields)
		}
		for line := range strings.Lines(table) {
			if cells := strings.Split(line, "|"); len(cells) > 3 {
				for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
					if !fields[m[1]] {
						t.Errorf("%s: no field %s", head, m[1])
					}
				}
			}
		}
	}
	if commands < 9 {
		t.Errorf("%d commands were found", commands)
	}
}

// TestTheMessagesOfRecoverAreInTheCode holds the messages that docs/recover.md quotes against the texts of the program.
func TestTheMessagesOfRecoverAreInTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/recover.md")
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, dir := range []string{".", "../../send/engine", "../../send/workspace", "../../find/results", "../report", "../../study/plan",
		"../../keep/store", "../../assay", "../../send/provider", "../../send/origin"} {
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			src, err := os.ReadFile(name)
			code += string(src)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	quoted := 0
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		quoted++
		for _, part := range regexp.MustCompile(`[A-Z]{3,}|[0-9"():]`).Split(m[1], -1) {
			if part = strings.TrimSpace(part); len(part) > 5 && !strings.Contains(code, part) {
				t.Errorf("%q is not in the code, as in %q", part, m[1])
			}
		}
	}
	if quoted < 12 {
		t.Errorf("%d messages were found", quoted)
	}
}
