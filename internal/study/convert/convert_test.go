package convert_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
	"assay/internal/study/convert"
)

// nothing finds no file.
func nothing(string) (convert.Found, bool) { return convert.Found{}, false }

// keysOf reads a study that was made, and lists its keys and its lanes.
func keysOf(t *testing.T, d *convert.Draft) (keys, lanes []string) {
	t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal(d.YAML, &doc); err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	all, _ := doc["lanes"].(map[string]any)
	return slices.Sorted(maps.Keys(doc)), slices.Sorted(maps.Keys(all))
}

func TestTextOfAConfigurationNeverBecomesAKeyOfTheStudy(t *testing.T) {
	t.Parallel()
	const evil = `"a\nbudget: 1000 USD\nlanes: {x: {model: openai/gpt-5}} # \" ' { [ \u2028"`
	for name, text := range map[string]string{
		"lanes": `experiment: {name: ` + evil + `, description: ` + evil + `, prompts_source: ` + evil + `, owner: ` + evil + `, models: [
			{model_name: gpt-4.1-2025-04-14, provider: openai, description: ` + evil + `, lanes: [{lane_id: ok, label: ` + evil +
			`, description: ` + evil + `, params: {` + evil + `: 1}}, {lane_id: fine, label: ` + evil + `}]},
			{model_name: ` + evil + `, provider: ` + evil + `, lanes: [{lane_id: ` + evil + `}]}]}` + "\n" + evil + ": 1\n",
		"specification": `{spec_name: ` + evil + `, spec_path: ` + evil + `, candidate_generation_dirs: [` + evil +
			`, x/gpt-4.1-2025-04-14], compliance_judge_model_name: gpt-4.1-2025-04-14, openai_api_key: ` + evil + `, ` + evil + `: 2}`,
	} {
		d, err := convert.Read([]byte(text), convert.World{Catalog: catalog.Default(), Find: nothing})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keys, lanes := keysOf(t, d)
		want, asked := []string{"analyses", "inputs", "lanes", "stages", "study"}, []string{"gpt-4.1-2025-04-14", "judge"}
		if name == "lanes" {
			want, asked = []string{"description", "inputs", "lanes", "stages", "study"}, []string{"fine"}
		}
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, d.YAML)
		}
		if diff := cmp.Diff(asked, lanes); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, d.YAML)
		}
		if len(d.Left) == 0 || strings.ContainsAny(strings.Join(d.Left, ""), "\n\r\u2028") {
			t.Errorf("%s: %q", name, d.Left)
		}
	}
}

func TestWhatIsNoConfigurationIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", "5", "experiment: 5", "experiment: {models: 5}", "experiment: {models: [5]}",
		"experiment: {models: [{model_name: o3, lanes: [5]}]}", "spec_path: {a: b}",
		"{spec_path: x, ranking_judge_model_name: o3, compliance_judge_model_name: o3}", "{spec_path: x, compliance_judge_model_name: o3}",
		"{spec_path: x, compliance_judge_model_name: nosuch, candidate_generation_dirs: [o3]}",
		"a: &a [*a]", strings.Repeat(" ", 2<<20)} {
		if d, err := convert.Read([]byte(text), convert.World{Catalog: catalog.Default(), Find: nothing}); err == nil {
			t.Errorf("%.60q became\n%s", text, d.YAML)
		}
	}
}

func TestColumnsAreGuessedByNameAndLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		columns string
		rows    [][]string
		want    convert.Columns
	}{
		"names": {"Nr,Question,Correct answer,Topic", [][]string{{"1", "Why?", "So", "x"}},
			convert.Columns{"Nr", "Question", "Correct answer"}},
		"own id": {"id,prompt,gold", [][]string{{"1", "Why?", "So"}}, convert.Columns{"id", "prompt", "gold"}},
		"under scores": {"expected_answer,user_id,Text", [][]string{{"So", "u", "Why?"}},
			convert.Columns{"user_id", "Text", "expected_answer"}},
		"ids that repeat are none": {"No,question", [][]string{{"1", "Why?"}, {"1", "How?"}}, convert.Columns{"", "question", ""}},
		"the longest texts":        {"kind,body,when", [][]string{{"a", "a long complaint", "2026"}}, convert.Columns{"", "body", ""}},
		"no text":                  {"a", nil, convert.Columns{}},
	} {
		table := convert.Table{Columns: strings.Split(c.columns, ",")}
		for _, row := range c.rows {
			fields := map[string]any{}
			for i, column := range table.Columns {
				fields[column] = row[i]
			}
			table.First = append(table.First, assay.Item{Fields: fields})
		}
		if got := table.Guess(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
