package plan

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/send/dialect"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/media"
	"assay/internal/study/prompt"
)

// Kind returns the vendor whose API a lane's provider speaks.
func (d *Input) Kind(l *study.Lane) (string, bool) {
	p, _ := d.Study.Providers.Find(l.Provider)
	return d.Catalog.Kind(l.Provider, p.Kind, p.BaseURL)
}

// Uploads returns what the vendor of a lane keeps under ids that requests in a dialect may name in the place of bytes.
func (d *Input) Uploads(l *study.Lane, in assay.Dialect) media.Uploads {
	kind, _ := d.Kind(l)
	return d.Catalog.MediaLimits(kind, string(in)).Uploads
}

// Wish returns how a lane's requests are to travel in a stage: the lane's word, else the stage's, else the study's, else batches.
func (d *Input) Wish(st *study.Stage, l *study.Lane) assay.Mode {
	return cmp.Or(l.Mode, assay.Mode(st.Mode), assay.Mode(d.Study.Mode), assay.ModeBatch)
}

// Mode returns how a lane's requests travel in a stage: as a batch or live.
func (d *Input) Mode(st *study.Stage, l *study.Lane) assay.Mode {
	m := d.Wish(st, l)
	switch {
	case m == assay.ModeFlex, m == assay.ModeBatchElseLive && !d.HasBatches(l):
		return assay.ModeLive
	case m == assay.ModeBatchElseLive:
		return assay.ModeBatch
	}
	return m
}

// Tier returns the service tier that live requests of a lane in a stage ask for: flex where the mode is, or where that is the way on after
// the deadline of its batches; else the lane's own.
func (d *Input) Tier(st *study.Stage, l *study.Lane) string {
	if d.Wish(st, l) == assay.ModeFlex || d.FlexAfter() && d.Mode(st, l) == assay.ModeBatch {
		return assay.TierFlex
	}
	return l.Params.ServiceTier
}

// Sent returns how a part travels as a study writes it: flex is live in that tier.
func (d *Input) Sent(p *Part) assay.Mode {
	if st, ok := d.Study.Stage(p.Stage); ok && p.Mode == assay.ModeLive && d.Tier(st, p.Lane) == assay.TierFlex {
		return assay.ModeFlex
	}
	return p.Mode
}

// FlexAfter reports whether what batches leave unanswered goes live in the flex tier.
func (d *Input) FlexAfter() bool {
	return d.Study.Deadline != nil && d.Study.Deadline.Then == study.ThenFlex
}

// HasBatches reports whether a lane's provider has batches.
func (d *Input) HasBatches(l *study.Lane) bool { return d.Vendor(l).Batch }

// Vendor returns the vendor whose API a lane's provider speaks, with its limits.
func (d *Input) Vendor(l *study.Lane) catalog.Vendor {
	kind, _ := d.Kind(l)
	v, _ := d.Catalog.Vendor(kind)
	return v
}

// BytesPerToken is how many bytes of a text one token takes where the text is too short or too odd to count.
const BytesPerToken = 4.0

// Route is how a lane's requests are written and what they cost.
type Route struct {
	Lane  assay.Lane // with the effective parameters
	Wire  assay.Wire
	Price catalog.Price // its zero value prices nothing

	Uploads media.Uploads // files that are named by an id in the place of their bytes

	how            catalog.Billing
	writes         bool            // what the provider's cache does not know is written to it, and billed so
	hour           bool            // it is kept for an hour
	tokens         float64         // of its model for one of o200k
	factor         float64         // the same, by what its prompts took
	expected, high int             // output tokens
	tools          assay.ToolCalls // that the provider may make for a request
	shows          media.Rule      // how its model counts what it is shown
	defined        int             // bytes of the tools that are the client's own, as every prompt carries them
}

// Defined returns how many bytes the definitions of tools add to a prompt, with what providers write around them.
func Defined(tools []assay.Tool) int {
	if len(tools) == 0 {
		return 0
	}
	const frame = 400 * BytesPerToken // providers put instructions of their own in front: 286 to 804 tokens at Anthropic
	text, err := json.Marshal(tools)
	if err != nil {
		return frame
	}
	return frame + len(text)
}

// Route returns a lane's way through a stage in a mode.
func (d *Input) Route(st *study.Stage, l *study.Lane, mode assay.Mode) Route {
	kind, _ := d.Kind(l)
	r := Route{Lane: l.Lane, how: catalog.Billing{Mode: mode, Smallest: l.Params.ServerTools.CodeExecution},
		tokens: d.Catalog.TokenFactor(kind, l.Model),
		shows:  d.Catalog.MediaRule(kind, l.Model)}
	r.factor = r.tokens
	if len(st.Tools) > 0 {
		r.Lane.Params.Tools, r.Lane.Params.ToolChoice = st.Callable(), st.ToolChoice.ToolChoice
		r.defined = Defined(r.Lane.Params.Tools)
	}
	r.Lane.Params = d.Catalog.Effective(r.Lane, kind)
	r.Wire = d.Catalog.Wire(r.Lane, kind, mode)
	r.Uploads = d.Uploads(l, r.Wire.Dialect)
	if d.Study.PromptCache != nil && !*d.Study.PromptCache {
		r.Wire.CacheMarks, r.Wire.CacheKey = false, false
	}
	if mode == assay.ModeLive {
		r.Wire.Carrier = ""
		r.how.Tier = d.Tier(st, l)
		if r.how.Tier != l.Params.ServiceTier {
			r.Wire.Tier = r.how.Tier
		}
	}
	r.Price, _ = d.Catalog.Price(kind, l.Model)
	r.writes = r.Wire.CacheMarks || !d.Vendor(l).CacheMarks
	_, r.expected, r.high = d.Catalog.OutputGuess(r.Lane, kind)
	r.expected = d.Catalog.Careful(r.expected, r.high)
	r.tools = catalog.ToolsOf(l.Params, r.Price.ByPrompt).Most
	return r
}

// JudgeRoute returns the way of a lane that judges by a rubric. It is asked for the form that the rubric reads, where its model can
// promise one, and its verdicts are as long as that form.
func (d *Input) JudgeRoute(st *study.Stage, l *study.Lane, mode assay.Mode, rubric judge.Rubric) Route {
	if schema := rubric.Answer(); schema != nil && l.Params.Schema == nil && d.Structured(l, schema) {
		own := *l
		own.Params.Schema = schema
		l = &own
	}
	if rubric.Weighed {
		l = d.Weighing(l)
	}
	r := d.Route(st, l, mode)
	if n := rubric.Length(); n.Expected > 0 {
		kind, _ := d.Kind(l)
		_, r.expected, r.high = d.Catalog.OutputOf(r.Lane, kind, n.Low, n.Expected)
	}
	return r
}

// Weighing returns a lane that judges by how likely labels are: as many likely tokens as it asks for, else as its provider tells.
func (d *Input) Weighing(l *study.Lane) *study.Lane {
	own := *l
	if own.Params.Logprobs == 0 {
		own.Params.Logprobs = d.Vendor(l).MostLikely()
	}
	return &own
}

// Primes reports whether batches of a lane read what the prompts of a stage share from the provider's cache. Batches
// that go together read nothing of what they write: so one request goes first, as a batch of its own, and the others
// when it is back. It pays where they are some, and the text is long enough for every model.
func (d *Input) Primes(st *study.Stage, l *study.Lane, requests int64) bool {
	if !d.Vendor(l).CacheMarks || d.Mode(st, l) != assay.ModeBatch || requests < leastPrimed ||
		d.Study.PromptCache != nil && !*d.Study.PromptCache {
		return false
	}
	return d.Shared(st) >= longPrefix
}

// Shared returns the bytes of the system text and context that all prompts of a stage share; 0: they differ. What a stage buys in rounds
// comes too late to read what the first round wrote.
func (d *Input) Shared(st *study.Stage) int {
	switch v := st.Verb(); {
	case v == study.VerbAsk:
		return static(st.System.Template, st.Context.Template)
	case v != study.VerbJudge && v != study.VerbCompare, st.Pairs != nil && st.Pairs.Adaptive != nil:
		return 0
	}
	r, err := d.Rubric(st)
	if err != nil || len(r.Prompts) == 0 || r.System == "" {
		return 0
	}
	t, _ := prompt.Parse(assay.Place{}, r.System)
	return static(t)
}

// static returns the bytes of some templates that are the same for every item; 0: they are not.
func static(all ...*prompt.Template) int {
	n := 0
	for _, t := range all {
		if t == nil {
			continue
		}
		text, static := t.Static()
		if !static {
			return 0
		}
		n += len(text)
	}
	return n
}

const (
	leastPrimed = 5        // requests: one pays twice for the text they share, and each of the others a tenth
	longPrefix  = 5000 * 4 // bytes: no model caches less than 4,096 tokens that others do not, and a token may have more than four bytes
)

// Primed returns the way of requests whose shared text is written to the provider's cache for an hour, or read from it.
func (r Route) Primed() Route {
	r.Wire.CacheMarks, r.Wire.CacheTTL, r.writes, r.hour = true, "1h", true, true
	return r
}

// Structured reports whether a lane's model takes a schema for its answer.
func (d *Input) Structured(l *study.Lane, schema json.RawMessage) bool {
	kind, ok := d.Kind(l)
	own := l.Lane
	own.Params.Schema = schema
	return ok && !slices.ContainsFunc(d.Catalog.Check(own, kind, d.Today), func(i catalog.Issue) bool {
		return i.Param == "schema" && !i.Warning
	})
}

// Estimate returns what one request with so many bytes of prompt, and so many tokens of what it shows besides, may cost.
func (r *Route) Estimate(bytes int, shown media.Tokens) (expected, high assay.Cost) {
	in := int64(math.Round((float64(bytes+r.defined)/BytesPerToken + float64(shown.Expected)/r.tokens) * r.factor))
	expected = r.Price.Bill(assay.Usage{Known: true, Input: in, Output: int64(r.expected), Tools: r.tools.Expected()}, r.how)
	return expected, r.most(MostTokens(float64(in)) + shown.High - shown.Expected)
}

// Shown returns the tokens of what a prompt shows besides its words, as the model of the lane counts them, and how many bytes of words
// would count as many.
func (r *Route) Shown(p *assay.Prompt) (tokens media.Tokens, bytes int64) {
	for _, m := range MediaOf(p.Messages) {
		tokens = tokens.Plus(r.shows.Of(m))
	}
	return tokens, int64(math.Round(float64(tokens.Expected) * BytesPerToken / r.tokens))
}

// AtMost returns what one request with so many tokens of prompt, as o200k counts them, costs at most: other tokenizers differ, and
// messages have a frame.
func (r *Route) AtMost(tokens int, shown media.Tokens) assay.Cost {
	text := (float64(tokens) + 2*float64(r.defined)/BytesPerToken) * r.tokens
	return r.most(MostTokens(text+float64(shown.Expected)) + shown.High - shown.Expected)
}

// MostTokens returns how many tokens a provider may count for a prompt of which so many are expected: its tokenizer is not ours, and
// messages have a frame. Quotes and reserves both go by it.
func MostTokens(expected float64) int64 { return int64(math.Ceil(expected*1.15)) + frameTokens }

// most returns what one request with so many tokens of prompt costs at most.
func (r *Route) most(in int64) assay.Cost {
	u := r.Price.Most(r.how, in, int64(r.high), r.writes, r.hour)
	u.Tools = r.tools
	return r.Price.Bill(u, r.how)
}

// frameTokens is more than the tokens around the messages of a request.
const frameTokens = 20

// Bill returns what a usage costs on this way.
func (r *Route) Bill(u assay.Usage) assay.Cost { return r.Price.Bill(u, r.how) }

// Path is a lane's way through a stage, with the limits that cut it.
type Path struct {
	Lane   *study.Lane // with the effective parameters
	Wire   assay.Wire
	Mode   assay.Mode
	Bounds Bounds
	line   int64 // most bytes of one line; 0: unknown
	Window int   // most tokens the model reads; 0: unknown

	Uploads media.Uploads // files that are named by an id in the place of their bytes
}

// Path returns the way of a lane through a stage.
func (d *Input) Path(st *study.Stage, l *study.Lane) Path {
	mode := d.Mode(st, l)
	r := d.Route(st, l, mode)
	effective := *l
	effective.Lane = r.Lane
	kind, _ := d.Kind(l)
	p := Path{Lane: &effective, Wire: r.Wire, Mode: mode, Window: d.Catalog.Find(kind, l.Model).Model.ContextIn, Uploads: r.Uploads}
	limits := d.Vendor(l).Limits
	if mode == assay.ModeLive {
		p.line = limits.LiveBytes
		return p
	}
	frame := dialect.FrameOf(p.Wire, l.Model)
	p.Bounds = Bounds{
		Requests: limits.Requests, Bytes: limits.Bytes,
		Frame: int64(len(frame.Open) + len(frame.Close)), Between: int64(len(frame.Separator)),
	}
	p.line = limits.LineBytes
	if own, ok := d.Study.Providers.Find(l.Provider); ok {
		p.Bounds.Requests = cmp.Or(own.Limits.Requests, p.Bounds.Requests)
		p.Bounds.Bytes = cmp.Or(own.Limits.Bytes, p.Bounds.Bytes)
		p.line = cmp.Or(own.Limits.Line, p.line)
	}
	p.Bounds = p.Bounds.with(d.BatchOf(st))
	return p
}

// BatchOf returns how a stage's segments are cut: its own word, else the study's.
func (d *Input) BatchOf(st *study.Stage) study.Batch {
	if st.Batch.Size > 0 || st.Batch.Segments > 0 {
		return st.Batch
	}
	return d.Study.Batch
}

// NotAsked names the lanes that a stage does not ask because they judge somewhere. A stage that names its lanes leaves
// out what it wants to.
func (d *Input) NotAsked(st *study.Stage) []string {
	if st.Verb() != study.VerbAsk || len(st.Lanes.Among.List) > 0 {
		return nil
	}
	asked := d.Study.Contestants(st)
	var out []string
	for i := range d.Study.Lanes {
		if l := &d.Study.Lanes[i]; !slices.Contains(asked, l) {
			out = append(out, l.Name)
		}
	}
	return out
}

// Most returns how large one line may be.
func (r *Path) Most() int64 {
	if r.line > 0 && (r.Bounds.Bytes == 0 || r.line < r.Bounds.Bytes) {
		return r.line
	}
	if r.Bounds.Bytes > 0 {
		return r.Bounds.Bytes - r.Bounds.Frame
	}
	return 0
}
