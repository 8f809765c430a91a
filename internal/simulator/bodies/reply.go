// Package bodies reads the bodies of requests and writes those of replies, in the shapes that providers share.
//
// A shape reads a body into a Request and writes a Reply to it: Chat, Responses, Embeddings, Messages, Generate, Embed,
// Ollama. Usage is what a reply is billed.
package bodies

import (
	"strings"
	"time"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/eyes"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"
)

// Reading is where a body is read.
type Reading struct {
	Vendor string
	Caches bool   // the vendor caches prompts by itself
	Model  string // named by the job or the path; "": by the body
	Rules  rules.Rules
	Batch  bool

	Uploads Uploads // nil: the vendor has none
}

// check holds the parameters against the rules.
func (rd Reading) check(a rules.Asked) *rules.Rejection {
	a.Vendor = rd.Vendor
	if rej := rules.CheckModel(a.Model); rej != nil {
		return rej
	}
	return rd.Rules.Check(a)
}

// Request is the content of a body: a question, and what a reply to it is billed and shaped by.
type Request struct {
	minds.Question
	Batch  bool
	Marks  []Mark // prefixes that a prompt cache may know, shortest first
	writes bool   // a prefix that the cache does not know is written to it, and billed so
	n      int    // how many answers are wanted; 0: one
	likely int    // how many likely tokens are told with each place of an answer whose words are weighed
	Vector int    // length of the embeddings that are asked for; 0: words are
	packed bool   // embeddings as base64

	searches int  // of the web that the model may make; 0: none
	codes    bool // its provider runs code
}

// Reply is an answer as it is billed.
type Reply struct {
	minds.Answer
	id    uint64
	cut   bool // stopped by the output limit
	stop  string
	Usage Usage
	made  time.Time
	ran   bool     // code
	more  []*Reply // the answers after this one, where several are wanted
}

// all returns the answers of a reply.
func (r *Reply) all() []*Reply { return append([]*Reply{r}, r.more...) }

// Usage counts tokens. Input holds cached and written ones, Output holds the reasoning.
type Usage struct {
	Input     int `json:"input"`
	Cached    int `json:"cached"`
	Write5m   int `json:"write_5m"`
	Write1h   int `json:"write_1h"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Searches  int `json:"searches,omitempty"` // of the web, by the provider's own tool
	Searched  int `json:"searched,omitempty"` // answers with searches, however many
	Code      int `json:"code,omitempty"`     // answers with a container of code that is billed

	// What models were shown, of the input.
	Pictures int `json:"pictures,omitempty"`
	Papers   int `json:"papers,omitempty"`
	Sounds   int `json:"sounds,omitempty"`
}

// Add adds v.
func (u *Usage) Add(v Usage) {
	u.Input += v.Input
	u.Cached += v.Cached
	u.Write5m += v.Write5m
	u.Write1h += v.Write1h
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	u.Searches += v.Searches
	u.Searched += v.Searched
	u.Code += v.Code
	u.Pictures += v.Pictures
	u.Papers += v.Papers
	u.Sounds += v.Sounds
}

// Charge is one answer that a client is billed for.
type Charge struct {
	Vendor, Model string
	Job           string // the batch that it was part of; empty: it was asked live
	ID            string // its custom id; of a live question the digest of its body
	Tier          string // the service tier that was asked for
	When          time.Time
	Usage         Usage
}

// Mark is a prefix of a prompt that a cache may hold.
type Mark struct {
	Hash   uint64
	tokens int
	hour   bool // kept for an hour, not for minutes
}

// limit cuts the answer so that it and the thinking before it stay within n tokens.
func (r *Reply) limit(n int) {
	if n <= 0 {
		return
	}
	r.Usage.Reasoning = min(r.Usage.Reasoning, n)
	room := (n - r.Usage.Reasoning) * 4
	if callsBytes(r.Calls) > room {
		r.Calls, r.cut = nil, true
	}
	if len(r.Text) <= room {
		return
	}
	for room > 0 && !utf8.RuneStart(r.Text[room]) {
		room--
	}
	r.Text, r.cut, r.stop = r.Text[:room], true, ""
}

// callsBytes returns how much is written for calls.
func callsBytes(calls []assay.ToolCall) int {
	n := 0
	for _, c := range calls {
		n += len(c.Name) + len(c.Arguments) + 24
	}
	return n
}

// cache bills the longest known prefix as read, or the longest new one as written.
func (r *Reply) cache(q *Request, known func(uint64) bool) {
	var longest Mark
	for _, m := range q.Marks {
		if known(m.Hash) {
			r.Usage.Cached = min(m.tokens, r.Usage.Input)
		}
		longest = m
	}
	if fresh := min(longest.tokens, r.Usage.Input) - r.Usage.Cached; q.writes && fresh > 0 {
		if longest.hour {
			r.Usage.Write1h = fresh
		} else {
			r.Usage.Write5m = fresh
		}
	}
}

// thinkingTokens returns how long a model thinks: by effort or budget, more for some questions than for others.
func thinkingTokens(q *Request) int {
	most := map[string]int{
		"none": 0, "minimal": 16, "low": 160, "": 640, "medium": 640, "default": 640, "high": 1920, "xhigh": 3840, "max": 7680,
	}[strings.ToLower(q.Effort)]
	if q.Budget > 0 {
		most = min(q.Budget, 8192)
	}
	return int(float64(most) * (0.25 + 0.75*dice.Chance(q.Draw^0x7417)))
}

// tokens returns the usual rule of thumb: four bytes each.
func tokens(bytes int) int { return (bytes + 3) / 4 }

// PromptTokens counts the tokens of the prompt.
func PromptTokens(q *Request) int {
	n, shown := len(q.System), 0
	for _, m := range q.Messages {
		n += len(m.Text) + 12
	}
	for i := range q.Shown {
		shown += q.Shown[i].Tokens(q.Model)
	}
	return tokens(n) + tokens(len(q.Schema)) + 3 + shown + toolTokens(q)
}

// look counts what the model was shown, sense by sense.
func (u *Usage) look(q *Request) {
	for i := range q.Shown {
		t := &q.Shown[i]
		n := t.Tokens(q.Model)
		switch t.Kind {
		case eyes.Picture:
			u.Pictures += n
		case eyes.Document:
			u.Papers += n
		case eyes.Sound:
			u.Sounds += n
		}
	}
}

// cacheBlock is the shortest prefix that providers cache by themselves: 1,024 tokens.
const cacheBlock = 4096

// ownMarks finds the prefixes that a provider caches without being asked, doubling from the shortest.
func (q *Request) ownMarks() {
	h, n, next := dice.Hash(0, q.Model), 0, cacheBlock
	feed := func(text string) {
		for len(text) > 0 {
			part := text[:min(len(text), next-n)]
			h = dice.Hash(h, part)
			n += len(part)
			text = text[len(part):]
			if n == next {
				q.Marks = append(q.Marks, Mark{Hash: h, tokens: n / 4})
				next *= 2
			}
		}
	}
	feed(q.System)
	for i := range q.Shown { // what stands before the words makes another prefix of them
		h = dice.Hash(h, q.Shown[i].Sum)
	}
	for _, m := range q.Messages {
		feed(m.Text)
	}
}

// Complete lets a model answer, cuts the answer at the output limit and counts tokens. known reports whether the cache
// holds a prefix; a prefix asked for is held from then on.
func (q *Request) Complete(by minds.Responder, known func(uint64) bool, now time.Time) *Reply {
	r := &Reply{id: dice.Mix(q.Draw), made: now}
	if q.Vector == 0 {
		r.Answer = by.Respond(&q.Question)
	}
	if q.Refuse {
		r.Answer = minds.Answer{Text: "I'm sorry, but I can't help with that.", Refused: true}
	}
	if q.Thinks {
		r.Usage.Reasoning = thinkingTokens(q)
	}
	for _, stop := range q.Stop {
		if at := strings.Index(r.Text, stop); stop != "" && at >= 0 {
			r.Text, r.stop = r.Text[:at], stop
		}
	}
	r.limit(q.MaxTokens)
	if !q.Thinks || !q.Thoughts {
		r.Thoughts = ""
	}
	r.Usage.Output = r.Usage.Reasoning + tokens(len(r.Text)) + tokens(callsBytes(r.Calls))
	r.Usage.Input = PromptTokens(q)
	r.Usage.look(q)
	if q.searches > 0 {
		r.Usage.Searches, r.Usage.Searched = 1+int(r.id%uint64(q.searches)), 1
	}
	r.ran = q.codes && r.id%2 == 0
	if r.ran && !(q.searches > 0 && strings.HasPrefix(q.Model, "claude-")) { // it is free there beside the web
		r.Usage.Code = 1
	}
	r.cache(q, known)
	for i := 1; i < q.n; i++ {
		other := *q
		other.n, other.Draw = 1, dice.Mix(q.Draw+uint64(i))
		o := other.Complete(by, known, now)
		r.Usage.Output += o.Usage.Output
		r.Usage.Reasoning += o.Usage.Reasoning
		r.more = append(r.more, o)
	}
	return r
}
