package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// foreign are keys of YAML files that are no studies: of compose, Prometheus and a forge's workflows.
var foreign = []string{"services", "scrape_configs", "jobs"}

// studyOf returns the study that a YAML block of a page is, or is a part of: the rest comes from
// testdata/docs/base.yaml. A list is a list of stages, and `rubric` is that of a judge stage. It is nil where the block
// is no study.
func studyOf(t *testing.T, where, text string) []byte {
	t.Helper()
	var part, base map[string]any
	if strings.HasPrefix(strings.TrimSpace(text), "- ") {
		text = "stages:\n" + text
	}
	if err := yaml.Unmarshal([]byte(text), &part); err != nil {
		t.Errorf("%s: %v", where, err)
		return nil
	}
	if part["study"] != nil {
		return []byte(text)
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(part)), func(k string) bool { return slices.Contains(foreign, k) }) {
		return nil
	}
	if rubric, is := part["rubric"]; is {
		part = map[string]any{"stages": []any{map[string]any{"name": "judged", "judge": "answers", "judges": []string{"judge"},
			"rubric": rubric}}}
	}
	whole, err := os.ReadFile("testdata/docs/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(whole, &base); err != nil {
		t.Fatal(err)
	}
	for key, value := range part {
		switch old := base[key].(type) {
		case map[string]any:
			if more, is := value.(map[string]any); is {
				maps.Copy(old, more)
				continue
			}
		case []any:
			if more, is := value.([]any); is { // stages: those of the page take the place of others of their names
				old = slices.DeleteFunc(old, func(a any) bool {
					return slices.ContainsFunc(more, func(b any) bool { return a.(map[string]any)["name"] == b.(map[string]any)["name"] })
				})
				base[key] = append(old, more...)
				continue
			}
		}
		base[key] = value
	}
	out, err := yaml.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryStudyOfThePagesIsOne(t *testing.T) {
	t.Parallel()
	checked := 0
	for page, text := range pagesOf(t) {
		if page == "docs/dev/add-a-provider.md" {
			continue // rows of the catalogue: a test of their own follows that page
		}
		var c *newcomer // one for each page
		for _, b := range blocksOf(text) {
			if b.kind != "yaml" {
				continue
			}
			where := page + ":" + strings.TrimSpace(strings.Split(strings.Join(b.lines, "\n"), "\n")[0])
			study := studyOf(t, where, strings.Join(b.lines, "\n"))
			if study == nil {
				continue
			}
			checked++
			if c == nil {
				c = reader(t)
			}
			files := map[string]string{"page.yaml": string(study)}
			// prompts that the page leaves to its reader
			for _, name := range regexp.MustCompile(`\b[a-z]+\.md\b`).FindAllString(string(study), -1) {
				files[name] = "{{ expect }} {{ answer.text }}"
			}
			for _, m := range regexp.MustCompile(`\$\{([A-Z_]+)\}`).FindAllStringSubmatch(string(study), -1) {
				if strings.HasSuffix(m[1], "_URL") { // where news would go
					c.env[m[1]] = "generic://127.0.0.1:9/news"
				}
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if code, out := c.any("check", "page.yaml"); code != 0 {
				t.Errorf("%s: exit code %d\n%s\n%s", where, code, out, study)
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d studies were found", checked)
	}
}
