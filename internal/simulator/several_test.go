package simulator_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// asked posts a body and returns the reply.
func asked(t *testing.T, url, body string, status int) (out map[string]any) {
	t.Helper()
	resp := post(t, url, body)
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != status {
		t.Fatalf("%s, want %d: %v %v", resp.Status, status, err, out)
	}
	return out
}

// Where n answers are wanted, they differ, and all are billed; in a stream each has an index of its own.
func TestSeveralAnswersToOneRequestAreBilledTogether(t *testing.T) {
	t.Parallel()
	_, urls := streamed(t)
	one := asked(t, urls["openai"]+"/chat/completions", `{"model":"gpt-4.1","messages":[{"role":"user","content":"Why?"}]}`, 200)
	chat := `{"model":"gpt-4.1","n":3,"messages":[{"role":"user","content":"Why?"}]`
	three := asked(t, urls["openai"]+"/chat/completions", chat+"}", 200)
	texts := map[string]bool{}
	for i := range 3 {
		texts[text(at(three, "choices", i, "message", "content"))] = true
	}
	single, _ := at(one, "usage", "completion_tokens").(float64)
	all, _ := at(three, "usage", "completion_tokens").(float64)
	if len(texts) != 3 || texts[""] || all <= single*3/2 || at(three, "choices", 3) != nil {
		t.Errorf("%d texts, %v tokens where one answer has %v", len(texts), all, single)
	}
	ends := map[string]int{}
	for _, e := range events(t, post(t, urls["openai"]+"/chat/completions", chat+`,"stream":true}`)) {
		if at(e, "choices", 0, "finish_reason") != nil {
			ends[fmt.Sprint(at(e, "choices", 0, "index"))]++
		}
	}
	if fmt.Sprint(ends) != "map[0:1 1:1 2:1]" {
		t.Errorf("ends by index: %v", ends)
	}
	asked(t, urls["openai"]+"/chat/completions", `{"model":"gpt-4.1","n":0,"messages":[{"role":"user","content":"Why?"}]}`, 400)

	candidates := `{"contents":[{"role":"user","parts":[{"text":"Why?"}]}],"generationConfig":{"candidateCount":%d}}`
	url := urls["gemini"] + "/v1beta/models/gemini-2.5-flash:generateContent"
	two := asked(t, url, fmt.Sprintf(candidates, 2), 200)
	a, b := text(at(two, "candidates", 0, "content", "parts", 0, "text")), text(at(two, "candidates", 1, "content", "parts", 0, "text"))
	if a == "" || b == "" || a == b {
		t.Errorf("two candidates: %q and %q", a, b)
	}
	asked(t, url, fmt.Sprintf(candidates, 9), 400)
}

// A judge tells how likely each label was where it is asked to: the chances of all add up to one.
func TestAJudgeTellsHowLikelyItsLabelsAre(t *testing.T) {
	t.Parallel()
	_, urls := streamed(t)
	const judge = `<answer>\nIn short, the matter rests on velfuba.\n</answer>\n` +
		`Is it right? Reply {\"label\": \"right\"} or {\"label\": \"wrong\"}.`
	body := `{"model":"gpt-4.1","logprobs":true,"top_logprobs":5,"messages":[{"role":"user","content":"` + judge + `"}]}`
	reply := asked(t, urls["openai"]+"/chat/completions", body, 200)
	tokens, _ := at(reply, "choices", 0, "logprobs", "content").([]any)
	whole, sum, found := "", 0.0, 0
	for _, one := range tokens {
		whole += text(at(one, "token"))
		if top, _ := at(one, "top_logprobs").([]any); text(at(one, "token")) == "righ" || text(at(one, "token")) == "wron" {
			found++
			for _, o := range top {
				logprob, _ := at(o, "logprob").(float64)
				sum += math.Exp(logprob)
			}
			if len(top) != 2 {
				t.Errorf("%d likely tokens: %v", len(top), top)
			}
		}
	}
	if said := text(at(reply, "choices", 0, "message", "content")); whole != said || found != 1 || math.Abs(sum-1) > 1e-9 {
		t.Errorf("%q of tokens, %q said; %d labels with chances of %g", whole, said, found, sum)
	}
	asked(t, urls["openai"]+"/chat/completions", `{"model":"gpt-4.1","top_logprobs":5,"messages":[{"role":"user","content":"x"}]}`, 400)

	google := asked(t, urls["gemini"]+"/v1beta/models/gemini-2.5-flash:generateContent",
		`{"contents":[{"role":"user","parts":[{"text":"`+judge+`"}]}],"generationConfig":{"responseLogprobs":true,"logprobs":5}}`, 200)
	if at(google, "candidates", 0, "logprobsResult", "topCandidates", 0, "candidates", 0, "token") == nil {
		t.Errorf("%v", google)
	}
}
