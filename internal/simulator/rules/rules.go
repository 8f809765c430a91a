// Package rules is what providers refuse: the parameters that a model's family rejects, what may be shown to it, and a Rejection, which
// is sent in place of a reply. They are held apart from those that the clients of the simulator use, so that a mistake in one does not
// hide in the other.
package rules

import (
	"slices"
	"strconv"
	"strings"
)

// Rules decide which parameters a model rejects.
type Rules interface {
	// Check returns the provider's rejection of these parameters; nil: it takes them.
	Check(a Asked) *Rejection
}

// Asked are the parameters of one request that a model may reject.
type Asked struct {
	Vendor      string
	API         string // chat, responses, messages, generate or ollama
	Model       string
	Temperature *float64
	TopP        *float64
	TopK        *int
	MaxTokens   int
	Longer      int    // a limit of output that a beta sets in the place of the model's; 0: none
	MaxField    string // the field the output limit came in
	Effort      string
	EffortField string
	Thinking    string // its type: enabled, disabled, adaptive, budget or level; "": not asked for
	Budget      int
	Logprobs    bool   // it wants to be told how likely words are
	Prefill     bool   // the conversation ends with the assistant
	Version     string // of the API, where it matters
}

// Families are the rules that are known of the model families.
type Families struct{}

// Check holds the parameters against what is known of the model's family.
func (Families) Check(a Asked) *Rejection {
	switch a.API {
	case "messages":
		return checkClaude(a)
	case "generate":
		return checkGemini(a)
	case "chat", "responses":
		if a.Vendor == "openai" || a.Vendor == "azure" { // others have models of their own, or drop what they do not know
			return checkGPT(a)
		}
	}
	return nil
}

// NewGeneration is the version of Anthropic's API that takes bearer keys only and knows no sampling parameters.
const NewGeneration = "2026-10-21"

// gptEfforts lists reasoning families by the longest prefix first, with the efforts each takes.
func gptEfforts() [][2]string {
	return [][2]string{
		{"gpt-5-chat", ""},
		{"gpt-5-pro", "high"},
		{"gpt-5.1-codex-max", "none low medium high xhigh"},
		{"gpt-5.1", "none low medium high"},
		{"gpt-5.2", "none low medium high xhigh"},
		{"gpt-5.3", "none low medium high xhigh"},
		{"gpt-5.4", "none low medium high xhigh"},
		{"gpt-5.5", "none low medium high xhigh"},
		{"gpt-5.6", "none low medium high xhigh max"},
		{"gpt-5", "minimal low medium high"},
		{"gpt-6", "low medium high xhigh max"},
		{"o1", "low medium high"}, {"o3", "low medium high"}, {"o4", "low medium high"},
	}
}

// GPTReasons returns the efforts of a reasoning model; false where the model does not reason.
func GPTReasons(model string) (efforts []string, reasons bool) {
	model = model[strings.LastIndex(model, "/")+1:]
	for _, f := range gptEfforts() {
		if strings.HasPrefix(model, f[0]) {
			return strings.Fields(f[1]), f[1] != ""
		}
	}
	return nil, false
}

func checkGPT(a Asked) *Rejection {
	efforts, reasons := GPTReasons(a.Model)
	if !reasons {
		if a.Effort != "" {
			return Invalid(a.EffortField, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.",
				a.EffortField)
		}
		return checkRange(a, 2)
	}
	if a.Effort != "" && !slices.Contains(efforts, a.Effort) {
		return Invalid(a.EffortField, "unsupported_value",
			"Unsupported value: '%s' is not supported with the '%s' model. Supported values are: '%s'.", a.Effort, a.Model,
			strings.Join(efforts, "', '"))
	}
	if a.API == "chat" && a.MaxField == "max_tokens" {
		return Invalid("max_tokens", "unsupported_parameter",
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	}
	if gptQuiet(a) {
		return checkRange(a, 2)
	}
	if a.Logprobs {
		return Invalid("logprobs", "unsupported_parameter", "Unsupported parameter: 'logprobs' is not supported with this model.")
	}
	for _, p := range []struct {
		name  string
		value *float64
	}{{"temperature", a.Temperature}, {"top_p", a.TopP}} {
		if p.value != nil && *p.value != 1 {
			return Invalid(p.name, "unsupported_value",
				"Unsupported value: '%s' does not support %s with this model. Only the default (1) value is supported.", p.name,
				number(*p.value))
		}
	}
	return nil
}

// gptQuiet reports whether a model that can reason is asked not to, and then takes what others take: GPT-5.1 to 5.5.
func gptQuiet(a Asked) bool {
	version, ok := strings.CutPrefix(a.Model[strings.LastIndex(a.Model, "/")+1:], "gpt-5.")
	if !ok || version == "" || version[0] < '1' || version[0] > '5' {
		return false
	}
	return a.Effort == "none" || a.Effort == "" && version[0] == '1' && !strings.Contains(version, "codex")
}

func checkRange(a Asked, hottest float64) *Rejection {
	switch {
	case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > hottest):
		return Invalid("temperature", "decimal_above_max_value",
			"Invalid 'temperature': expected a value between 0 and %s, but got %s instead.", number(hottest), number(*a.Temperature))
	case a.TopP != nil && (*a.TopP < 0 || *a.TopP > 1):
		return Invalid("top_p", "decimal_above_max_value", "Invalid 'top_p': expected a value between 0 and 1, but got %s instead.",
			number(*a.TopP))
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Claude is the age of a Claude model, by its name.
type Claude struct {
	Family       string
	Major, Minor int
}

// ParseClaude reads claude-sonnet-4-5, claude-opus-4-1-20250805, claude-3-7-sonnet-20250219 and claude-opus-5.
func ParseClaude(model string) Claude {
	var c Claude
	seen := 0
	for _, part := range strings.FieldsFunc(strings.TrimPrefix(model, "claude-"),
		func(r rune) bool { return r == '-' || r == '.' || r == '@' }) {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil && c.Family == "":
			c.Family = part
		case err != nil || n > 99: // a word such as "latest", or a date
		case seen == 0:
			c.Major, seen = n, 1
		case seen == 1:
			c.Minor, seen = n, 2
		}
	}
	return c
}

// Since reports whether it is of a version or a later one.
func (c Claude) Since(major, minor int) bool {
	return c.Major > major || c.Major == major && c.Minor >= minor
}

// AlwaysThinks reports whether it is of a family whose thinking cannot be turned off.
func (c Claude) AlwaysThinks() bool { return c.Family == "fable" || c.Family == "mythos" }

// LeastCached returns the shortest prefix a model caches; shorter marks are passed over in silence.
func (c Claude) LeastCached() int {
	switch {
	case c.Since(5, 0):
		return 512
	case c.Family == "haiku" && c.Since(4, 5), c.Family == "opus" && c.Since(4, 5):
		return 4096
	}
	return 1024
}

// most returns the longest output of a model; 0: not known.
func (c Claude) most() int {
	switch {
	case c.Family == "opus" && c.Major == 4 && c.Minor <= 1:
		return 32_000
	case c.Major == 3 && c.Minor == 5:
		return 8_192
	case c.Family == "opus" && c.Since(4, 6), c.Since(5, 0):
		return 128_000
	case c.Major == 4 || c.Major == 3 && c.Minor == 7:
		return 64_000
	}
	return 0
}

func checkClaude(a Asked) *Rejection {
	c := ParseClaude(a.Model)
	if a.Version >= NewGeneration && (a.Temperature != nil || a.TopP != nil || a.TopK != nil) {
		return Invalid("", "", "temperature, top_p and top_k: Extra inputs are not permitted")
	}
	if most := max(c.most(), a.Longer); c.most() > 0 && a.MaxTokens > most {
		return Invalid("", "", "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", a.MaxTokens,
			most, a.Model)
	}
	if rej := checkClaudeSampling(a, c); rej != nil {
		return rej
	}
	if rej := checkClaudeThinking(a, c); rej != nil {
		return rej
	}
	if a.Prefill && c.Since(4, 6) {
		return Invalid("", "", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

func checkClaudeSampling(a Asked, c Claude) *Rejection {
	thinking := a.Thinking == "enabled" || a.Thinking == "adaptive"
	switch {
	case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 1):
		return Invalid("", "", "temperature: range: 0..1")
	case c.Since(4, 7) && (a.Temperature != nil && *a.Temperature != 1 || a.TopP != nil && *a.TopP < 0.99 || a.TopK != nil):
		return Invalid("", "", "temperature, top_p and top_k are not supported by this model")
	case thinking && a.Temperature != nil && *a.Temperature != 1:
		return Invalid("", "", "`temperature` may only be set to 1 when thinking is enabled.")
	case thinking && a.TopK != nil:
		return Invalid("", "", "`top_k` must be unset when thinking is enabled.")
	}
	return nil
}

func checkClaudeThinking(a Asked, c Claude) *Rejection {
	switch {
	case a.Thinking == "enabled" && c.Since(4, 7):
		return Invalid("", "", "thinking.type: \"enabled\" is not supported for this model. Use \"adaptive\" and output_config.effort.")
	case a.Thinking == "enabled" && a.Budget < 1024:
		return Invalid("", "", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case a.Thinking == "enabled" && a.Budget >= a.MaxTokens:
		return Invalid("", "", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	case a.Thinking == "adaptive" && !c.Since(4, 6):
		return Invalid("", "", "adaptive thinking is not supported on this model")
	case a.Thinking == "disabled" && c.AlwaysThinks():
		return Invalid("", "", "thinking cannot be disabled for this model")
	case a.Thinking == "disabled" && c.Family == "opus" && c.Major == 5 && (a.Effort == "xhigh" || a.Effort == "max"):
		return Invalid("", "", "effort %q needs thinking", a.Effort)
	case a.Effort == "xhigh" && !c.Since(4, 7), a.Effort == "max" && !c.Since(4, 6):
		return Invalid("", "", "output_config.effort: %q is not supported on this model", a.Effort)
	case a.Effort != "" && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, a.Effort):
		return Invalid("", "", "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	return nil
}

func checkGemini(a Asked) *Rejection {
	pro := strings.Contains(a.Model, "pro")
	switch {
	case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 2):
		return Invalid("", "", "Unable to submit request because it has a temperature value of %s but the supported range is from 0 to 2.",
			number(*a.Temperature))
	case a.TopP != nil && (*a.TopP < 0 || *a.TopP > 1):
		return Invalid("", "", "Unable to submit request because it has a topP value of %s but the supported range is from 0 to 1.",
			number(*a.TopP))
	case a.Thinking == "both":
		return Invalid("", "", "Only one of thinking_budget and thinking_level may be set.")
	case a.Thinking == "budget" && a.Budget == 0 && pro:
		return Invalid("", "", "Budget 0 is invalid. This model only works in thinking mode.")
	case a.Thinking == "level" && strings.Contains(a.Model, "gemini-2"):
		return Invalid("", "", "Thinking level is not supported for this model.")
	case a.Thinking == "level" && strings.EqualFold(a.Effort, "minimal") && pro:
		return Invalid("", "", "Thinking level MINIMAL is not supported for this model.")
	case a.Thinking == "level" && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, strings.ToUpper(a.Effort)):
		return Invalid("", "", "Invalid value at 'generation_config.thinking_config.thinking_level'.")
	}
	return nil
}
