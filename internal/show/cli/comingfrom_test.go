package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/show/cli"
	"assay/internal/simulator"
)

// comingFrom reads docs/dev/coming-from.md: what stands on the right, by chapter.
func comingFrom(t *testing.T) (chapters []string, right map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/dev/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	right = map[string][]string{}
	chapter := ""
	for line := range strings.Lines(string(text)) {
		if name, is := strings.CutPrefix(line, "## "); is {
			chapter = strings.TrimSpace(name)
			chapters = append(chapters, chapter)
		}
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if chapter == "" || len(cells) < 4 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-2], -1) {
			right[chapter] = append(right[chapter], strings.ReplaceAll(m[1], "\x00", "|"))
		}
	}
	return chapters, right
}

// newcomer is someone who comes from another system: a folder with its port, and a simulator in place of all providers.
type newcomer struct {
	t    *testing.T
	dir  string
	env  map[string]string
	n    int    // names used so far
	lane string // one that answers
	item string
}

func newNewcomer(t *testing.T, example string) *newcomer {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	c := &newcomer{t: t, dir: t.TempDir(), env: map[string]string{}}
	for provider, url := range sim.BaseURLs(server.URL) {
		c.env[strings.ToUpper(provider)+"_BASE_URL"], c.env[strings.ToUpper(provider)+"_API_KEY"] = url, "k"
	}
	c.run(0, "init", "STUDY", "--example", example)
	return c
}

// run types a command and wants an exit code.
func (c *newcomer) run(want int, args ...string) string {
	c.t.Helper()
	code, out := c.any(args...)
	if code != want {
		c.t.Errorf("assay %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
	return out
}

// any types a command, however it ends.
func (c *newcomer) any(args ...string) (int, string) {
	var out bytes.Buffer
	w := worldIn(c.dir, &out, &out, args...)
	w.Env, w.Timing = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, hurry
	return cli.Main(c.t.Context(), w), out.String()
}

// typed returns the words of a command as the page has it, with something real for what stands in capitals, and the flags without which it
// would ask.
func (c *newcomer) typed(command string) []string {
	args := words(strings.ReplaceAll(command, `"`, "'"))
	fresh := func(form string) string { c.n++; return fmt.Sprintf(form, c.n) }
	file := "votes.csv"
	if args[0] == "batch" {
		file = "requests.jsonl"
	}
	real := map[string]func() string{
		"FILE": func() string { return file }, "DIR": func() string { return fresh("dir%d") }, "LANE": func() string { return c.lane },
		"ITEM": func() string { return c.item }, "CONDITION": func() string { return "turn > 0" }, "KEY": c.key,
	}
	for i, word := range args {
		if put, ok := real[word]; ok {
			args[i] = put()
		}
	}
	if i := slices.Index(args, "--output"); i >= 0 && args[0] == "batch" {
		args[i+1] = fresh("requests%d.jsonl")
	}
	args = slices.DeleteFunc(args, func(w string) bool { return w == "[RUN…]" })
	switch args[0] {
	case "run":
		args = append(args, "--yes", "--profile", "small")
	case "retry", "redo":
		args = append(args, "--yes")
	case "batch":
		if args[1] == "submit" {
			args = append(args, "--yes", "--rehearse")
		}
	}
	return args
}

// key returns the key of some request.
func (c *newcomer) key() string {
	c.t.Helper()
	found := regexp.MustCompile(`"key":"(\w+)"`).FindStringSubmatch(c.run(0, "results", "--json"))
	if found == nil {
		c.t.Fatal("no request has a key")
	}
	return found[1]
}

// twoTexts writes two texts to be compared.
func (c *newcomer) twoTexts() {
	c.t.Helper()
	for name, text := range map[string]string{"A.txt": "Cats sleep a lot.\n", "B.txt": "A cat sleeps for two thirds of the day.\n"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// try types a command of the page. What stays until it is stopped, what asks a person question by question, and what is about a run that
// waits for one is looked up instead.
func (c *newcomer) try(span string) {
	c.t.Helper()
	args := c.typed(span)
	switch {
	case slices.Contains([]string{"view", "label", "resolve"}, args[0]), slices.Contains(args, "RUN"), args[0] == "cancel":
		c.run(0, "help", args[0])
		return
	case args[0] == "judge":
		c.twoTexts()
		args = append(args, "--yes", "--home", "elsewhere") // as below
	case args[0] == "import" && args[2] == "batch": // a batch whose only request was sent again after it had expired
		c.write(map[string]string{
			"sent.jsonl":   `{"custom_id":"q","method":"POST","url":"/v1/responses","body":{"model":"m","input":"Is it safe?"}}`,
			"output.jsonl": `{"custom_id":"q","response":{"status_code":200,"body":{"model":"m","choices":[{"message":{"content":"No."},"finish_reason":"stop"}]}}}`,
			"errors.jsonl": `{"custom_id":"q","response":null,"error":{"code":"batch_expired","message":"late"}}`,
		})
		args = append(args, "--home", "elsewhere") // the run of the page stays the latest
	case args[0] == "init" && slices.Contains(args, "--from"):
		c.write(map[string]string{
			"old/lanes.yaml":  "experiment: {models: [{model_name: gpt-5, provider: openai, lanes: [{lane_id: a}]}]}",
			"old/config.yaml": "{spec_name: s, spec_path: nowhere, candidate_generation_dirs: [gpt-5], compliance_judge_model_name: gpt-5}",
		})
		args[3] = "old/" + args[3] // the port has a file of lanes of its own
	case args[0] == "import" && (args[2] == "promptfoo" || args[2] == "lm-eval"):
		c.write(map[string]string{
			"results.json":                        `{"results":{"results":[{"provider":"echo","vars":{"q":"hi"},"prompt":{"raw":"hi"},"response":{"output":"hi"},"failureReason":0}]}}`,
			"harness/samples_t_2026-01-01T.jsonl": `{"doc_id":0,"doc":{"q":"hi"},"target":"","resps":[["hi"]],"filter":"none","metrics":[]}`,
		})
		if args[2] == "lm-eval" {
			args[3] = "harness"
		}
		args = append(args, "--home", "elsewhere", "--out", "from-"+args[2])
	case args[0] == "import": // what was exported is read back
		tree := map[string]string{"speceval": "by-group", "sycobench": "conversations", "pairwisellm": "registry", "csv": "csv",
			"inspect": "inspect"}[args[2]]
		dir := args[3] + "-tree"
		c.run(0, "export", "--format", tree, "--out", dir)
		args = []string{"import", "--format", args[2], dir, "--out", args[3]}
	}
	c.run(0, args...)
}

// write puts files into the newcomer's folder.
func (c *newcomer) write(files map[string]string) {
	c.t.Helper()
	for name, text := range files {
		name = filepath.Join(c.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestEveryCommandOfComingFromWorksWhenItIsTyped types what stands on the right of docs/dev/coming-from.md, chapter by chapter, against the
// simulator, in a folder with the port of that system.
func TestEveryCommandOfComingFromWorksWhenItIsTyped(t *testing.T) {
	t.Parallel()
	chapters, right := comingFrom(t)
	ports := map[string][3]string{ // with a lane and an item
		"All four": {"spec-compliance", "mini", ""}, "SycoBench": {"sycophancy", "mini", "1"}, "SpecEval": {"spec-compliance", "mini", ""},
		"pairwiseLLM": {"writing-pairs", "gpt41", ""}, "Apex Audition": {"lanes", "gpt56.low", "01"},
		"Inspect, promptfoo, lm-evaluation-harness": {"spec-compliance", "mini", ""},
	}
	for _, chapter := range chapters {
		t.Run(chapter, func(t *testing.T) {
			t.Parallel()
			port, ok := ports[chapter]
			if !ok {
				t.Fatal("no port is known for it")
			}
			c := newNewcomer(t, port[0])
			c.lane, c.item = port[1], port[2]
			for name, text := range map[string]string{
				"votes.csv": "a,b,winner\nx,y,x\ny,z,y\nz,x,x\nx,y,y\nz,y,z\nx,z,z\nx,z,tie\n", "questions.txt": "What is love?\n",
				"requests.jsonl": `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}}` + "\n",
			} {
				if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.run(0, "run", "STUDY", "--yes", "--profile", "small")
			seen := map[string]bool{}
			for _, span := range right[chapter] {
				if strings.HasPrefix(span, "assay ") && !seen[span] {
					seen[span] = true
					c.try(span)
				}
			}
			if len(seen) < 5 {
				t.Errorf("%d commands were found", len(seen))
			}
		})
	}
}

// TestWhatComingFromNamesIsThere looks up every flag and every key of a study that the page names.
func TestWhatComingFromNamesIsThere(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../../docs/study.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	// names that a study gives, or that stand in a text
	own := []string{"questions", "spec", "prompts", "mine", "name", "vertex", "small", "human", "frequency_penalty"}
	c := &newcomer{t: t, dir: t.TempDir()}
	flags := ""
	for _, command := range []string{"run", "plan", "resume", "view", "status", "analyse", "table rank"} {
		flags += c.run(0, append([]string{"help"}, strings.Fields(command)...)...)
	}
	_, right := comingFrom(t)
	keys := 0
	for chapter, spans := range right {
		for _, span := range spans {
			if strings.HasPrefix(span, "assay ") {
				continue
			}
			for _, m := range regexp.MustCompile(`(?:^|[ ,{])(--?[a-z][a-z-]*)`).FindAllStringSubmatch(span, -1) {
				if !regexp.MustCompile(`[ ,]` + m[1] + `[ ,\n]`).MatchString(flags) {
					t.Errorf("%s: no command to run a study has the flag %s, as in `%s`", chapter, m[1], span)
				}
			}
			for _, m := range regexp.MustCompile(`([a-z_]+): `).FindAllStringSubmatch(span, -1) {
				keys++
				if !slices.Contains(own, m[1]) && !bytes.Contains(schema, []byte(`"`+m[1]+`"`)) {
					t.Errorf("%s: a study has no key %s, as in `%s`", chapter, m[1], span)
				}
			}
		}
	}
	if keys < 40 {
		t.Errorf("%d keys were found", keys)
	}
}
