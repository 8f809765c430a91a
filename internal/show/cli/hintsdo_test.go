package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHintsDoWhatTheySay gets a run into trouble, takes the command out of the message that this gives, types it, and
// wants what the message promises.
func TestHintsDoWhatTheySay(t *testing.T) {
	t.Parallel()
	const asks = "study: hinted\ninputs: {q: {items: [one, two, three, four]}}\nlanes: {g: {model: MODEL, max_tokens: TOKENS}}\n" +
		"stages: [{name: answers, ask: q, prompt: \"What is {{ text }}?\"}]\n"
	const line = `{"custom_id":"NO","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}}` + "\n"
	wrong := func(c *newcomer) { c.env["OPENAI_API_KEY"] = "bad-key" }
	right := func(c *newcomer) { c.env["OPENAI_API_KEY"] = "k" }
	nothing := func(*newcomer) {}
	stuck := func(c *newcomer) { c.faults(http.MethodPost, "openai check 503") } // no job ends, however slow this machine is
	mended := func(c *newcomer) { c.faults(http.MethodDelete, "") }
	const all = "4 of 4 requests have an answer"
	for name, h := range map[string]struct {
		model, tokens string
		before        func(*newcomer)
		trouble       []string
		code          int
		then          func(*newcomer)
		says          string // the command, with ID for the run and … for what a person puts in
		put           string // for …
		look          []string
		want          string
		never         string // a command that would not help
	}{
		"a wrong key: retry": {"", "", wrong, []string{"run", "s.yaml", "--yes"}, 3, right, "assay retry ID", "",
			[]string{"resume"}, all, ""},
		"a wrong key: its state": {"", "", wrong, []string{"run", "s.yaml", "--yes"}, 3, right, "assay retry ID", "",
			[]string{"status"}, all, "goes on with it"},
		"a budget that is spent": {"", "", nothing, []string{"run", "s.yaml", "--yes", "--budget", "0 USD"}, 4, nothing,
			"assay resume ID --budget …", "5 USD", []string{"status"}, all, "goes on with it"},
		"a wrong key, and a budget": {"", "", wrong, []string{"run", "s.yaml", "--yes", "--budget", "5 USD"}, 3, right,
			"assay retry ID", "", []string{"status"}, all, "--budget"},
		"detached": {"", "", stuck, []string{"run", "s.yaml", "--yes", "--detach"}, 0, mended, "assay resume ID",
			"", []string{"status"}, all, ""},
		"first answers that wait for a yes": {"", "", nothing, []string{"run", "s.yaml", "--yes", "--verify-first"}, 5, nothing,
			"assay resume ID --proceed", "", []string{"status"}, all, ""},
		"first answers that get a no": {"", "", nothing, []string{"run", "s.yaml", "--yes", "--verify-first"}, 5, nothing,
			"assay cancel ID", "", []string{"status"}, "is cancelled", ""},
		"a canary without an answer": {"gemini/gemini-2.5-flash", "60", nothing, []string{"run", "s.yaml", "--yes"}, 3, nothing,
			"assay retry ID", "", []string{"resume"}, "is incomplete: 0 of 4", "assay resume"},
		"a batch that is to be watched": {"", "", stuck, []string{"batch", "submit", "b.jsonl", "--yes"}, 0, mended, "assay resume ID",
			"", []string{"batch", "collect", "b.jsonl"}, "2 answers in", ""},
		"a batch file with a wrong key": {"", "", wrong, []string{"batch", "submit", "b.jsonl", "--yes", "--wait"}, 5, right,
			"assay retry ID", "", []string{"resume", "b.jsonl"}, "", ""},
		"a batch that is not done": {"", "", wrong, []string{"batch", "submit", "b.jsonl", "--yes"}, 5, right, "assay retry ID",
			"", []string{"resume"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNewcomer(t, "start")
			study := strings.NewReplacer("MODEL", orElse(h.model, "openai/gpt-4.1-mini-2025-04-14"), "TOKENS",
				orElse(h.tokens, "100")).Replace(asks)
			for file, text := range map[string]string{"s.yaml": study,
				"b.jsonl": strings.Replace(line, "NO", "1", 1) + strings.Replace(line, "NO", "2", 1)} {
				if err := os.WriteFile(filepath.Join(c.dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h.before(c)
			said := c.run(h.code, h.trouble...)
			pattern := strings.NewReplacer("ID", "([a-z0-9]{10})", "…", "[A-Z]+").Replace(h.says)
			found := regexp.MustCompile(pattern).FindStringSubmatch(said)
			if found == nil {
				t.Fatalf("%q is not said:\n%s", h.says, said)
			}
			if h.never != "" && strings.Contains(said, h.never) {
				t.Errorf("%q is said, and does not help:\n%s", h.never, said)
			}
			h.then(c)
			args := strings.Fields(strings.NewReplacer("assay ", "", "ID", found[1], "…", "\x00").Replace(h.says))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\x00", h.put)
			}
			if strings.Contains(h.says, "retry") {
				args = append(args, "--yes")
			}
			_, did := c.any(args...)
			if strings.Contains(h.says, "retry") { // it sends, and does not wait for jobs; what is stopped stays so
				c.any("resume", found[1])
			}
			if _, out := c.any(h.look...); !strings.Contains(out, h.want) {
				t.Errorf("after %s:\n%s\n%s does not say %q:\n%s", strings.Join(args, " "), did, strings.Join(h.look, " "), h.want, out)
			}
		})
	}
}

// faults changes the rules of the simulator in place of the providers.
func (c *newcomer) faults(method, rules string) {
	c.t.Helper()
	base, _, _ := strings.Cut(c.env["OPENAI_BASE_URL"], "/openai/")
	request, err := http.NewRequestWithContext(c.t.Context(), method, base+"/sim/faults", strings.NewReader(rules))
	if err != nil {
		c.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		c.t.Fatalf("%s /sim/faults: %s", method, reply.Status)
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
