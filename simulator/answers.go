package simulator

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"assay"
)

// Question is what a model is asked, whatever the wire it came over.
type Question struct {
	Vendor   string
	Model    string
	System   string
	Messages []assay.Message
	Schema   []byte // JSON Schema of the answer; nil: free text
	JSON     bool   // the answer must be some JSON object
	Stop     []string

	MaxTokens int    // 0: no limit
	Effort    string // as the request says it; "": not set
	Thinks    bool   // the model thinks before it answers
	Budget    int    // tokens it may think; 0: by effort
	Thoughts  bool   // the client wants to see them
	Tier      string // the service tier that was asked for
	Refuse    bool   // decline, whatever is asked

	// Draw is where everything random about the answer comes from: the seed, the body and, in a batch, the key part of
	// the custom id; in a live call, how often the body was asked before.
	Draw uint64

	batch  bool
	marks  []mark // prefixes that a prompt cache may know, shortest first
	writes bool   // a prefix that the cache does not know is written to it, and billed so
	vector int    // length of the embeddings that are asked for; 0: words are
	packed bool   // embeddings as base64
}

// Answer is what a model says.
type Answer struct {
	Text     string
	Thoughts string
	Refused  bool
}

// Responder is a model, or many: it answers a question by the question alone, so that a restart changes nothing.
type Responder interface {
	Respond(q *Question) Answer
}

// reply is an answer as it is billed.
type reply struct {
	Answer
	id    uint64
	cut   bool // stopped by the output limit
	stop  string
	usage usage
	made  time.Time
}

// usage counts tokens. input holds cached and written ones, output holds the reasoning.
type usage struct {
	input, cached, write5m, write1h, output, reasoning int
}

func (u *usage) add(v usage) {
	u.input += v.input
	u.cached += v.cached
	u.write5m += v.write5m
	u.write1h += v.write1h
	u.output += v.output
	u.reasoning += v.reasoning
}

// mark is a prefix of a prompt that a cache may hold.
type mark struct {
	hash   uint64
	tokens int
	hour   bool // kept for an hour, not for minutes
}

// complete lets the model answer, cuts the answer at the output limit and counts tokens. known tells whether the cache
// holds a prefix; a prefix asked for is held from then on.
func (s *Server) complete(q *Question, known func(uint64) bool, now time.Time) *reply {
	r := &reply{id: mix(q.Draw), made: now}
	if q.vector == 0 {
		s.asked.add(q.Model)
		r.Answer = s.opts.Responder.Respond(q)
	}
	if q.Refuse {
		r.Answer = Answer{Text: "I'm sorry, but I can't help with that.", Refused: true}
	}
	if q.Thinks {
		r.usage.reasoning = thinkingTokens(q)
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
	r.usage.output = r.usage.reasoning + tokens(len(r.Text))
	r.usage.input = promptTokens(q)
	r.cache(q, known)
	return r
}

// limit cuts the answer so that it and the thinking before it stay within n tokens.
func (r *reply) limit(n int) {
	if n <= 0 {
		return
	}
	r.usage.reasoning = min(r.usage.reasoning, n)
	room := (n - r.usage.reasoning) * 4
	if len(r.Text) <= room {
		return
	}
	for room > 0 && !utf8.RuneStart(r.Text[room]) {
		room--
	}
	r.Text, r.cut, r.stop = r.Text[:room], true, ""
}

// cache bills the longest known prefix as read, or the longest new one as written.
func (r *reply) cache(q *Question, known func(uint64) bool) {
	var longest mark
	for _, m := range q.marks {
		if known(m.hash) {
			r.usage.cached = min(m.tokens, r.usage.input)
		}
		longest = m
	}
	if fresh := min(longest.tokens, r.usage.input) - r.usage.cached; q.writes && fresh > 0 {
		if longest.hour {
			r.usage.write1h = fresh
		} else {
			r.usage.write5m = fresh
		}
	}
}

// thinkingTokens is how long a model thinks: by effort or budget, more for some questions than for others.
func thinkingTokens(q *Question) int {
	most := map[string]int{
		"none": 0, "minimal": 16, "low": 160, "": 640, "medium": 640, "default": 640, "high": 1920, "xhigh": 3840, "max": 7680,
	}[strings.ToLower(q.Effort)]
	if q.Budget > 0 {
		most = min(q.Budget, 8192)
	}
	return int(float64(most) * (0.25 + 0.75*chance(q.Draw^0x7417)))
}

// tokens is the usual rule of thumb: four bytes each.
func tokens(bytes int) int { return (bytes + 3) / 4 }

func promptTokens(q *Question) int {
	n := len(q.System)
	for _, m := range q.Messages {
		n += len(m.Text) + 12
	}
	return tokens(n) + tokens(len(q.Schema)) + 3
}

// cacheBlock is the shortest prefix that providers cache by themselves: 1,024 tokens.
const cacheBlock = 4096

// ownMarks finds the prefixes that a provider caches without being asked, doubling from the shortest.
func (q *Question) ownMarks() {
	h, n, next := hashString(0, q.Model), 0, cacheBlock
	feed := func(text string) {
		for len(text) > 0 {
			part := text[:min(len(text), next-n)]
			h = hashString(h, part)
			n += len(part)
			text = text[len(part):]
			if n == next {
				q.marks = append(q.marks, mark{hash: h, tokens: n / 4})
				next *= 2
			}
		}
	}
	feed(q.System)
	for _, m := range q.Messages {
		feed(m.Text)
	}
}

// warmth is what the live prompt caches hold: the last few thousand prefixes, each for some minutes.
type warmth struct {
	mu    sync.Mutex
	until map[uint64]time.Time
	order []uint64
	next  int
}

const (
	warmPrefixes = 4096
	warmTime     = 5 * time.Minute
)

func newWarmth() *warmth { return &warmth{until: map[uint64]time.Time{}} }

// known tells for one call whether a prefix is held, and holds it from then on.
func (w *warmth) known(account string, now time.Time) func(uint64) bool {
	return func(h uint64) bool {
		h = hashString(h, account)
		w.mu.Lock()
		defer w.mu.Unlock()
		until, ok := w.until[h]
		switch {
		case ok:
		case len(w.order) < warmPrefixes:
			w.order = append(w.order, h)
		default:
			delete(w.until, w.order[w.next])
			w.order[w.next] = h
			w.next = (w.next + 1) % warmPrefixes
		}
		w.until[h] = now.Add(warmTime)
		return ok && now.Before(until)
	}
}
