package bodies

import (
	"cmp"
	"strings"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Generate is the dialect of Gemini's generateContent.
type Generate struct{ Vertex bool }

// either returns a member under its camel-case name, or else in snake case, which Google takes as well.
func either(v *fastjson.Value, camel string) *fastjson.Value {
	if got := v.Get(camel); got != nil {
		return got
	}
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return v.Get(b.String())
}

func partsText(v *fastjson.Value) string {
	var b strings.Builder
	for _, p := range v.GetArray("parts") {
		if !p.GetBool("thought") {
			b.Write(p.GetStringBytes("text"))
		}
	}
	return b.String()
}

// Read takes a body apart.
func (d Generate) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	model := cmp.Or(rd.Model, strings.TrimPrefix(stringOf(b, "model"), "models/"))
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: model, Tier: stringOf(either(b, "serviceTier"))}}
	q.System = partsText(either(b, "systemInstruction"))
	contents := b.GetArray("contents")
	sees := &viewer{rd: rd, q: &q}
	level := stringOf(either2(either2(b, "generationConfig"), "mediaResolution"))
	for i, m := range contents {
		role := stringOf(m, "role")
		if role != "" && role != "user" && role != "model" {
			return q, rules.Invalid("", "", "Please use a valid role: user, model. (contents[%d])", i)
		}
		if len(m.GetArray("parts")) == 0 {
			return q, rules.Invalid("", "", "contents[%d].parts: must not be empty", i)
		}
		q.addMessage(role, partsText(m))
		sees.generateParts(m, level)
		q.ToldBack = false
		for _, p := range m.GetArray("parts") {
			q.ToldBack = q.ToldBack || either(p, "functionResponse") != nil
		}
	}
	q.declarations(b)
	q.mayUse(b.GetArray("tools"), 0)
	if len(contents) == 0 {
		return q, rules.Invalid("", "", "contents is not specified")
	}
	a := rules.Asked{API: "generate", Model: q.Model}
	if g := either(b, "generationConfig"); g != nil {
		d.readConfig(&q, &a, g, rd.Batch)
	}
	d.thinkByDefault(&q, a)
	if rej := q.severalCandidates(either2(b, "generationConfig")); rej != nil {
		return q, rej
	}
	if rej := cmp.Or(rd.check(a), sees.end(), q.geminiSearch()); rej != nil {
		return q, rej
	}
	q.ownMarks()
	return q, nil
}

func (d Generate) readConfig(q *Request, a *rules.Asked, g *fastjson.Value, batch bool) {
	a.Temperature, a.TopP, a.TopK = floatOf(g, "temperature"), floatOf(either2(g, "topP")), intOf(either2(g, "topK"))
	q.MaxTokens = either2(g, "maxOutputTokens").GetInt()
	q.Stop = stringsOf(either(g, "stopSequences"))
	q.JSON = stringOf(either2(g, "responseMimeType")) == "application/json"
	q.Schema = schemaOf(either(g, "responseSchema"))
	if !batch && q.Schema == nil { // batches silently ignore it
		q.Schema = schemaOf(either(g, "responseJsonSchema"))
	}
	t := either(g, "thinkingConfig")
	if t == nil {
		return
	}
	q.Thoughts = either2(t, "includeThoughts").GetBool()
	budget, level := intOf(either2(t, "thinkingBudget")), stringOf(either2(t, "thinkingLevel"))
	switch {
	case budget != nil && level != "":
		a.Thinking = "both"
	case budget != nil:
		a.Thinking, a.Budget, q.Budget = "budget", *budget, max(*budget, 0)
		if *budget == 0 {
			q.Effort = "none"
		}
	case level != "":
		a.Thinking, a.Effort, q.Effort = "level", level, strings.ToLower(level)
	}
}

// either2 is either, with a null where there is nothing, so that it can be asked further.
func either2(v *fastjson.Value, camel string) *fastjson.Value {
	if got := either(v, camel); got != nil {
		return got
	}
	return fastjson.MustParse("null")
}

// thinkByDefault knows which models think when the request does not set it: all since 2.5, but the lightest.
func (d Generate) thinkByDefault(q *Request, a rules.Asked) {
	old := strings.Contains(q.Model, "gemini-1") || strings.Contains(q.Model, "gemini-2.0")
	light := strings.Contains(q.Model, "lite") && a.Thinking == ""
	q.Thinks = !old && !light && q.Effort != "none"
}

// Write appends the body of a reply.
func (d Generate) Write(dst []byte, q *Request, r *Reply) []byte {
	out := generateReply{
		ModelVersion: q.Model, ResponseID: dice.Letters(dice.Base62, 22)(r.id),
		Usage: generateUsage{
			Prompt: r.Usage.Input, Cached: r.Usage.Cached, Candidates: r.Usage.Output - r.Usage.Reasoning, Thoughts: r.Usage.Reasoning,
			Total: r.Usage.Input + r.Usage.Output,
		},
	}
	if u := r.Usage; u.Pictures+u.Papers+u.Sounds > 0 {
		out.Usage.split(u)
	}
	if d.Vertex {
		out.Usage.Traffic = "ON_DEMAND"
	}
	if r.Refused && q.Draw%2 == 0 {
		out.Feedback = map[string]any{"blockReason": "PROHIBITED_CONTENT"}
		return AppendJSON(dst, out)
	}
	for i, one := range r.all() {
		out.Candidates = append(out.Candidates, d.candidate(q, one, i))
	}
	return AppendJSON(dst, out)
}

// candidate returns one answer of several.
func (d Generate) candidate(q *Request, r *Reply, index int) generateCandidate {
	cand := generateCandidate{FinishReason: "STOP", Index: index}
	cand.Content.Role = "model"
	switch {
	case r.Refused:
		cand.FinishReason = "SAFETY"
		return cand
	case r.cut:
		cand.FinishReason = "MAX_TOKENS"
	}
	if r.Thoughts != "" {
		cand.Content.Parts = append(cand.Content.Parts, generatePart{Text: r.Thoughts, Thought: true})
	}
	cand.Content.Parts = append(cand.Content.Parts, codeParts(r)...)
	if r.Text != "" {
		cand.Content.Parts = append(cand.Content.Parts, generatePart{Text: r.Text})
	}
	cand.Grounding = grounding(r)
	for i, call := range r.Calls {
		part := generatePart{Call: map[string]any{"name": call.Name, "args": call.Arguments}}
		if i == 0 && q.Thinks {
			part.Signature = dice.Letters(dice.Base62, 32)(r.id)
		}
		cand.Content.Parts = append(cand.Content.Parts, part)
	}
	if q.Weigh {
		tokens := geminiTokens(q, r)
		chosen, _ := tokens["chosenCandidates"].([]any)
		sum, _ := tokens["logProbabilitySum"].(float64)
		cand.Logprobs, cand.Average = tokens, sum/float64(max(len(chosen), 1))
	}
	return cand
}

// Embed is the dialect of embedContent, and of its plural where many is set.
type Embed struct{ Many bool }

// Read takes a body apart.
func (d Embed) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: rd.Model}, Vector: embeddingSize}
	list := []*fastjson.Value{b}
	if d.Many {
		list = b.GetArray("requests")
	}
	for _, one := range list {
		if one.Get("content") == nil {
			return q, rules.Invalid("", "", "content is not specified")
		}
		q.addMessage("user", partsText(one.Get("content")))
		if n := either2(one, "outputDimensionality").GetInt(); n > 0 {
			q.Vector = min(n, embeddingMost)
		}
	}
	return q, rd.check(rules.Asked{API: "embed", Model: q.Model})
}

// Write appends the body of a reply.
func (d Embed) Write(dst []byte, q *Request, _ *Reply) []byte {
	all := []any{}
	for _, m := range q.Messages {
		all = append(all, map[string]any{"values": vector(dice.Hash(0, q.Model+m.Text), q.Vector)})
	}
	if d.Many {
		return AppendJSON(dst, map[string]any{"embeddings": all})
	}
	return AppendJSON(dst, map[string]any{"embedding": all[0]})
}

type generateReply struct {
	Candidates   []generateCandidate `json:"candidates,omitempty"`
	Feedback     any                 `json:"promptFeedback,omitempty"`
	Usage        generateUsage       `json:"usageMetadata"`
	ModelVersion string              `json:"modelVersion"`
	ResponseID   string              `json:"responseId"`
}

type generateCandidate struct {
	Content struct {
		Role  string         `json:"role"`
		Parts []generatePart `json:"parts,omitempty"`
	} `json:"content"`
	FinishReason string  `json:"finishReason"`
	Index        int     `json:"index"`
	Grounding    any     `json:"groundingMetadata,omitempty"`
	Logprobs     any     `json:"logprobsResult,omitempty"`
	Average      float64 `json:"avgLogprobs,omitempty"`
}

type generatePart struct {
	Text      string `json:"text,omitempty"`
	Thought   bool   `json:"thought,omitempty"`
	Call      any    `json:"functionCall,omitempty"`
	Signature string `json:"thoughtSignature,omitempty"`
	Code      any    `json:"executableCode,omitempty"`
	Ran       any    `json:"codeExecutionResult,omitempty"`
}

type generateUsage struct {
	Prompt     int    `json:"promptTokenCount"`
	Cached     int    `json:"cachedContentTokenCount,omitempty"`
	Candidates int    `json:"candidatesTokenCount,omitempty"`
	Thoughts   int    `json:"thoughtsTokenCount,omitempty"`
	Total      int    `json:"totalTokenCount"`
	Traffic    string `json:"trafficType,omitempty"`

	Details []modality `json:"promptTokensDetails,omitempty"`
}

// modality is the part of a prompt that one sense reads.
type modality struct {
	Name   string `json:"modality"`
	Tokens int    `json:"tokenCount"`
}

// split shows a prompt's tokens sense by sense.
func (g *generateUsage) split(u Usage) {
	for _, m := range []modality{{"TEXT", u.Input - u.Pictures - u.Papers - u.Sounds}, {"IMAGE", u.Pictures}, {"DOCUMENT", u.Papers},
		{"AUDIO", u.Sounds}} {
		if m.Tokens > 0 {
			g.Details = append(g.Details, m)
		}
	}
}

// CountTokens counts the tokens of the prompt in a body for a model, whatever its parameters.
func (d Generate) CountTokens(raw []byte, model string) (int, *rules.Rejection) {
	b, err := fastjson.ParseBytes(raw)
	if err != nil {
		return 0, rules.Invalid("", "", "Invalid JSON payload received.")
	}
	if inner := either(b, "generateContentRequest"); inner != nil {
		b = inner
	}
	q, rej := d.Read(Reading{Model: model, Rules: anyRules{}}, b)
	return PromptTokens(&q), rej
}

// mostCandidates are the most answers to one request of Google's.
const mostCandidates = 8

// mostTop are the most likely tokens told with each place.
const mostTop = 20

// severalCandidates reads the same in the form of Google's.
func (q *Request) severalCandidates(g *fastjson.Value) *rules.Rejection {
	if n := intOf(either2(g, "candidateCount")); n != nil {
		if *n < 1 || *n > mostCandidates {
			return rules.Invalid("", "", "Unable to submit request because candidateCount is %d but the supported range is from 1 to %d.",
				*n,
				mostCandidates)
		}
		q.n = *n
	}
	q.Weigh, q.likely = either2(g, "responseLogprobs").GetBool(), either2(g, "logprobs").GetInt()
	if q.likely > 0 && !q.Weigh || q.likely < 0 || q.likely > mostTop {
		return rules.Invalid("", "", "logprobs: expected a value from 1 to %d, beside responseLogprobs", mostTop)
	}
	return nil
}

// geminiTokens returns the tokens of an answer as Google shows them.
func geminiTokens(q *Request, r *Reply) map[string]any {
	chosen, top, sum := []any{}, []any{}, 0.0
	one := func(t minds.Token) map[string]any {
		return map[string]any{"token": t.Text, "logProbability": t.Logprob, "tokenId": int(dice.Hash(0, t.Text) % 250_000)}
	}
	for _, t := range r.Tokens(q.likely) {
		chosen, sum = append(chosen, one(t)), sum+t.Logprob
		others := []any{}
		for _, o := range t.Others {
			others = append(others, one(o))
		}
		top = append(top, map[string]any{"candidates": others})
	}
	out := map[string]any{"chosenCandidates": chosen, "logProbabilitySum": sum}
	if q.likely > 0 {
		out["topCandidates"] = top
	}
	return out
}
