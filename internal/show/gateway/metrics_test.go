package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
)

// TestUsageIsShownByUser adds up the usage in the replies to two users' calls and batches, and wants the same in the
// metrics.
func TestUsageIsShownByUser(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(3)
	r := newRig(t, rigOptions{budget: &budget})
	in, out := map[string]float64{}, map[string]float64{}
	ask := func(user, token, model string) {
		_, o := r.call(token, "POST", "/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":%q,%s}`, model, question)))
		usage := o["usage"].(map[string]any)
		in[user], out[user] = in[user]+usage["prompt_tokens"].(float64), out[user]+usage["completion_tokens"].(float64)
	}
	ask("anna", anna, "gpt-4o-mini")
	ask("anna", anna, "anthropic/claude-sonnet-4-5")
	ask("bert", bert, "gpt-4o-mini")
	_, b := r.create(anna, r.upload(anna, chat("a", "gpt-4o-mini", "")+chat("b", "gemini/gemini-2.5-flash", "")))
	b = r.until(anna, b.text("id"), "completed")
	usage := b["usage"].(map[string]any)
	in["anna"], out["anna"] = in["anna"]+usage["input_tokens"].(float64), out["anna"]+usage["output_tokens"].(float64)
	r.url = strings.TrimSuffix(r.url, "/v1")
	if _, own := r.raw(bert, "GET", "/metrics", nil); strings.Contains(string(own), "anna") || !strings.Contains(string(own),
		`assay_user_calls{user="bert"} 1`+"\n") || !strings.Contains(string(own), `assay_user_budget_dollars{user="bert"} 3`+"\n") {
		t.Errorf("a user is shown\n%s", own)
	}
	_, text := r.raw(anna, "GET", "/metrics", nil) // the admin
	for _, want := range []string{
		`assay_user_batches{user="anna"} 1`, `assay_user_batches{user="bert"} 0`, `assay_user_requests{user="anna"} 2`,
		`assay_user_calls{user="anna"} 2`, `assay_user_calls{user="bert"} 1`, fmt.Sprintf(`assay_user_input_tokens{user="anna"} %g`,
			in["anna"]), fmt.Sprintf(`assay_user_input_tokens{user="bert"} %g`, in["bert"]),
		fmt.Sprintf(`assay_user_output_tokens{user="anna"} %g`, out["anna"]), fmt.Sprintf(`assay_user_output_tokens{user="bert"} %g`,
			out["bert"]), `assay_user_budget_dollars{user="bert"} 3`, `assay_user_unpriced{user="anna"} 0`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("there is no line %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), anna) || strings.Contains(string(text), "# HELP assay_user_calls ") == false {
		t.Errorf("the metrics are\n%s", text)
	}
}
