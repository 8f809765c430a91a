package estimate

import (
	"math"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// again notes what a stage may ask once more, and what that costs: how many verdicts fail is not known before. That all of it is asked is
// in the most that the stage costs.
func (m *maker) again(st *study.Stage) {
	own := m.plan.Sum(func(p plan.Part) bool { return p.Stage == st.Name })
	if own.Requests == 0 {
		return
	}
	judged := func(do func(p *plan.Part) plan.Part) (sum plan.Price) {
		for i := range m.plan.Parts {
			if p := &m.plan.Parts[i]; p.Stage == st.Name {
				more := do(p)
				p.Cost.High, p.Live.High = p.Cost.High.Add(more.Cost.High), p.Live.High.Add(more.Live.High)
				p.Plain.High = p.Plain.High.Add(more.Plain.High)
				sum = sum.Plus(more.Cost)
			}
		}
		return sum
	}
	if st.SecondTry != nil && *st.SecondTry {
		cost := judged(func(p *plan.Part) plan.Part { return *p })
		m.note("stage %s: a malformed verdict is asked for once more; if all %s were, that would cost %s more (%s to %s), which "+
			"only the highest sums have", st.Name, plural(own.Requests, "request"), cost.Expected, cost.Low, cost.High)
	}
	if st.Fallback == "" {
		return
	}
	for _, l := range m.in.Study.LanesNamed([]string{st.Fallback}) {
		cost := judged(func(p *plan.Part) plan.Part { return m.inPlace(st, l, p) })
		m.note("stage %s: what a judge refuses or garbles is asked of lane %s; if all %s were, that would cost %s more (%s to %s), which "+
			"only the highest sums have", st.Name, l.Name, plural(own.Requests, "request"), cost.Expected, cost.Low, cost.High)
	}
}

// inPlace returns the part of a lane that answers all requests of a judge's part in its place.
func (m *maker) inPlace(st *study.Stage, l *study.Lane, p *plan.Part) plan.Part {
	rubric, err := m.in.Rubric(st)
	if err != nil {
		return plan.Part{} // reported where the stage is planned
	}
	r := m.in.Path(st, l)
	kind, _ := m.in.Kind(p.Lane)
	input := float64(p.Input.Expected) / float64(p.Requests) / m.in.Catalog.TokenFactor(kind, p.Lane.Model)
	instead := plan.Part{Lane: r.Lane, Turn: p.Turn, Wave: p.Wave, Mode: r.Mode, Requests: p.Requests}
	m.goLive(&instead)
	m.price(&instead, load{input: input, answer: rubric.Length()})
	return instead
}

const (
	visibleTokens = 125  // of an answer, thoughts aside, where it is quoted in a later prompt
	cacheFloor    = 1024 // shared prefixes with fewer tokens are not cached anywhere
)

// load holds what the mean request of a part weighs, in tokens of o200k.
type load struct {
	input  float64
	shared float64      // of input: the prefix that caching may cover
	bytes  float64      // of its prompt, where that is rendered; 0: unknown
	answer judge.Length // of a judge's verdict; zero: it is no verdict
	shown  shapes       // what it shows besides
}

// price fills a part's tokens and money from its count and the weight of its mean request.
func (m *maker) price(p *plan.Part, w load) {
	kind, _ := m.in.Kind(p.Lane)
	factor := m.in.Catalog.TokenFactor(kind, p.Lane.Model)
	spread := 0.15
	if m.in.Catalog.CountsTokens(kind, p.Lane.Model) {
		spread = 0.03
	}
	shown, most := w.shown.tokens(m.in.Catalog.MediaRule(kind, p.Lane.Model))
	defined := float64(plan.Defined(p.Lane.Params.Tools)) / plan.BytesPerToken * factor
	in := w.input*factor + shown + defined
	low, expected, high := m.in.Catalog.OutputGuess(p.Lane.Lane, kind)
	if w.answer.Expected > 0 { // as it is reserved
		low, expected, high = m.in.Catalog.OutputOf(p.Lane.Lane, kind, w.answer.Low, w.answer.Expected)
	}
	p.From = plan.FromCatalog
	if seen := m.seen(p); seen.N > 0 {
		p.From = seen.From
		low, expected = int(seen.Mean/seen.Spread()), min(int(math.Ceil(seen.Mean)), high) // the most is a promise, and stays
		switch {
		case seen.PerByte > 0 && w.bytes > 0:
			in, spread = (w.bytes+(shown+defined)*plan.BytesPerToken/factor)*seen.PerByte, 0.03
		case seen.Input > 0 && w.bytes == 0:
			in = seen.Input
		}
	}
	p.Input = plan.Span{
		Low: times(in*(1-spread), p.Requests), Expected: times(in, p.Requests),
		High: times(float64(plan.MostTokens(in+defined))+most-shown, p.Requests),
	}
	p.Output = plan.Span{
		Low: times(float64(low), p.Requests), Expected: times(float64(expected), p.Requests), High: times(float64(high), p.Requests),
	}
	v, _ := m.in.Catalog.Vendor(kind)
	shared := w.shared * factor
	if shared < cacheFloor {
		shared = 0
	}
	bill := func(mode assay.Mode) plan.Price {
		how := catalog.Billing{Mode: mode, Smallest: p.Lane.Params.ServerTools.CodeExecution}
		if mode == assay.ModeLive {
			how.Tier = m.tier(p)
		}
		primes := mode == assay.ModeBatch && p.Primed
		one := func(in float64, out int, cached float64, tools assay.ToolCalls) assay.Cost {
			u := assay.Usage{Known: true, Input: round(in), Cached: round(cached), Output: int64(out), Tools: tools}
			if primes { // one writes, the others read
				u.CacheWrite1h = round(shared / float64(p.Requests))
				u.Cached = max(0, round(min(shared, in))-u.CacheWrite1h)
			}
			return m.bill(p, kind, u, how)
		}
		if mode == assay.ModeBatch && !v.Batch {
			return plan.Price{}
		}
		caches := !v.CacheMarks || primes || mode == assay.ModeLive && (m.in.Study.PromptCache == nil || *m.in.Study.PromptCache)
		price, _ := m.in.Catalog.Price(kind, p.Lane.Model)
		tools := catalog.ToolsOf(p.Lane.Params, price.ByPrompt).Most
		all := price.Most(how, plan.MostTokens(in+defined)+round(most-shown), int64(high), caches, primes)
		all.Tools = tools
		cached := shared
		if !caches { // other batches carry no marks
			cached = 0
		}
		return plan.Price{Low: one(in*(1-spread), low, 0.9*cached, assay.ToolCalls{}),
			Expected: one(in, expected, 0.5*cached, tools.Expected()),
			High:     m.bill(p, kind, all, how)}
	}
	p.Plain, p.Live = bill(p.Mode), bill(assay.ModeLive)
	if p.First > 0 {
		p.AtLeast(p.First)
	}
	if p.Gated {
		p.Input.Low, p.Output.Low = 0, 0
		p.Plain.Low, p.Live.Low = assay.Cost{}, assay.Cost{}
	}
	p.Cost = p.CostOf(p.Requests)
}

// tier returns the service tier that live requests of a part ask for.
func (m *maker) tier(p *plan.Part) string {
	if st, ok := m.in.Study.Stage(p.Stage); ok {
		return m.in.Tier(st, p.Lane)
	}
	return p.Lane.Params.ServiceTier
}

// primes reports whether the requests of a part read what they share from the provider's cache, after one that goes first.
func (m *maker) primes(p *plan.Part) bool {
	st, ok := m.in.Study.Stage(p.Stage)
	return ok && p.Turn == 1 && m.in.Primes(st, p.Lane, p.Requests)
}

// seen returns what answers like those of a part took.
func (m *maker) seen(p *plan.Part) plan.Observed {
	if m.in.Learned == nil {
		return plan.Observed{}
	}
	return m.in.Learned(p.Stage, p.Turn, p.Verb == study.VerbJudge || p.Verb == study.VerbCompare, p.Lane.Lane)
}

// visible returns how many tokens the mean answer of some lanes in a stage has where it is quoted, thoughts aside.
func (m *maker) visible(stage string, lanes []*study.Lane) float64 {
	sum, n := 0.0, 0.0
	for _, l := range lanes {
		tokens := float64(visibleTokens)
		if m.in.Learned != nil {
			if seen := m.in.Learned(stage, 1, false, l.Lane); seen.N > 0 {
				tokens = seen.Visible
			}
		}
		sum, n = sum+tokens, n+1
	}
	if n == 0 {
		return visibleTokens
	}
	return sum / n
}

// bill returns the cost of all requests of a part, each with the mean usage.
func (m *maker) bill(p *plan.Part, kind string, u assay.Usage, how catalog.Billing) assay.Cost {
	price, ok := m.in.Catalog.Price(kind, p.Lane.Model)
	one := price.Bill(u, how)
	if !ok || !one.Known() {
		return assay.Cost{Unknown: p.Requests}
	}
	return assay.Cost{Sum: one.Sum * assay.Money(p.Requests), Priced: p.Requests}
}

func times(each float64, n int64) int64 { return round(each * float64(n)) }

func round(f float64) int64 { return int64(math.Round(f)) }

// guess returns the rough number of tokens of a text that is not rendered yet.
func guess(t study.Text) float64 { return float64(len(t.Text)) / plan.BytesPerToken }
