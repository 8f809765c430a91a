// Package estimate makes the plan of a study: it counts, measures and prices the requests of each stage.
//
// The first wave is exact: every request is rendered and encoded, so that counts, bytes and segments are those that will
// go out. Later waves depend on answers that do not exist yet: they are counted (at most) and estimated.
package estimate

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
	"assay/internal/study/tokens"
)

// Make plans a study. Problems are those of the rows of its inputs; with them there is no plan.
func Make(ctx context.Context, d *plan.Input, o plan.Options) (*plan.Plan, assay.Problems) {
	m := &maker{in: d, options: o, plan: &plan.Plan{Study: d.Study.Study, Items: map[string]int{}}, given: map[string]*answers{},
		walked: map[string]bool{}, tokens: tokens.NewCounter()}
	for _, st := range plan.InOrder(d.Study) {
		m.stage(ctx, st)
	}
	m.otherInputs(ctx)
	if err := ctx.Err(); err != nil && len(m.problems) == 0 {
		m.problems.Add(assay.Place{}, "", "planning was stopped: %s", err)
	}
	if len(m.problems.Errors()) > 0 {
		return nil, m.problems.Sort()
	}
	m.finish()
	return m.plan, m.problems.Sort()
}

// otherInputs looks at the rows of inputs that no stage asks about by itself, such as those that others are joined with: a
// run reads them all.
func (m *maker) otherInputs(ctx context.Context) {
	if m.in.Items == nil || ctx.Err() != nil {
		return
	}
	for _, e := range m.in.Study.Inputs {
		if !m.walked[e.Name] {
			m.problems = append(m.problems, m.in.Items.Walk(ctx, e.Name, func(assay.Item) bool { return true })...)
		}
	}
}

// maker is one planning of one study.
type maker struct {
	in       *plan.Input
	options  plan.Options
	plan     *plan.Plan
	problems assay.Problems
	tokens   *tokens.Counter
	given    map[string]*answers // what each stage gives to those after it
	walked   map[string]bool     // inputs whose rows were all looked at
}

// answers holds what a stage gives, at most.
type answers struct {
	lanes   []*study.Lane
	items   int64
	start   int     // the wave of the first turn
	wave    int     // the wave of the last turn
	turns   []int64 // answers of one lane at each asked turn, control included
	control int64   // those of the last turn that are a control
	tokens  float64 // of the conversation before the last answer, mean
	answer  float64 // tokens of the mean answer where it is quoted
	gated   bool
	goes    bool     // goes on with earlier conversations: all its answers are later ones
	unknown bool     // how many there are is known only later
	shown   []shapes // what the mean request of each turn shows; nil: nothing
}

// showing returns what the mean request of a turn shows; 0: of the last one.
func (a *answers) showing(turn int) shapes {
	if n := len(a.shown); turn == 0 || turn > n {
		turn = n
	}
	if turn == 0 {
		return nil
	}
	return a.shown[turn-1]
}

// last returns how many conversations one lane has at the end.
func (a *answers) last() int64 {
	return a.at(len(a.turns))
}

func (m *maker) stage(ctx context.Context, st *study.Stage) {
	m.where(ctx, st)
	switch st.Verb() {
	case study.VerbAsk:
		m.ask(ctx, st)
	case study.VerbContinue:
		m.proceed(ctx, st)
	case study.VerbImport:
		m.importing(ctx, st)
	case study.VerbJudge:
		m.judge(ctx, st)
		m.slices(ctx, st)
		m.statements(ctx, st)
	case study.VerbCompare:
		m.compare(ctx, st)
		m.statements(ctx, st)
	}
}

func (m *maker) note(format string, args ...any) {
	m.plan.Notes = append(m.plan.Notes, fmt.Sprintf(format, args...))
}

// wanted reports whether a stage is planned; one that is not still gives its answers to those after it.
func (m *maker) wanted(st *study.Stage) bool {
	return len(m.options.Stages) == 0 || slices.Contains(m.options.Stages, st.Name)
}

// chosen returns the lanes of a stage within the options.
func (m *maker) chosen(lanes []*study.Lane) []*study.Lane {
	if len(m.options.Lanes) == 0 {
		return lanes
	}
	return within(lanes, m.options.Lanes)
}

func (m *maker) add(st *study.Stage, p plan.Part, w load) {
	if !m.wanted(st) || p.Requests == 0 {
		return
	}
	p.Stage, p.Verb = st.Name, st.Verb()
	m.fewest(st, &p)
	m.goLive(&p)
	if p.Verb != study.VerbAsk { // a judge's system text
		w.shared = float64(m.in.Shared(st)) / plan.BytesPerToken
	}
	p.Primed = p.Mode == assay.ModeBatch && m.primes(&p)
	m.price(&p, w)
	m.plan.Parts = append(m.plan.Parts, p)
	m.plan.Waves = max(m.plan.Waves, p.Wave)
}

// after returns the first wave in which a stage can start. Who reads first answers only does not wait for the later ones.
func (m *maker) after(st *study.Stage) int {
	wave := 0
	for _, n := range st.Needs() {
		g := m.given[n]
		switch {
		case g == nil:
		case st.Of.Which == study.OfFirst && g.start > 0:
			wave = max(wave, g.start)
		default:
			wave = max(wave, g.wave)
		}
	}
	return wave + 1
}

func (m *maker) finish() {
	for i := range m.in.Study.Stages {
		m.again(&m.in.Study.Stages[i])
	}
	m.unbounded()
	m.primed()
	m.searching()
	m.plan.Reckon(nil, 0)
	m.alike()
	sort.SliceStable(m.plan.Parts, func(i, j int) bool { return m.plan.Parts[i].Wave < m.plan.Parts[j].Wave })
	for _, p := range m.plan.Parts {
		sent := p.Bytes
		if !p.Exact {
			sent = p.Input.Expected * plan.BytesPerToken
		}
		m.plan.DiskLow += sent + p.Output.Low*plan.BytesPerToken + p.Requests*rowBytes
		m.plan.DiskHigh += sent + p.Output.High*plan.BytesPerToken*2 + p.Requests*(rowBytes+replyBytes)
	}
}

// alike warns of ask stages that say the same about every item, with what that costs.
func (m *maker) alike() {
	for i := range m.in.Study.Stages {
		st := &m.in.Study.Stages[i]
		var n int64
		var cost assay.Cost
		for _, p := range m.plan.Parts {
			if p.Stage == st.Name {
				n += p.Requests
				cost = cost.Add(p.Cost.Expected)
			}
		}
		if n > 0 && plan.AsksAlike(st) {
			m.problems.Warn(st.At, plan.FieldHint, "stage %s asks the same about every item, in %s for %s: its prompt uses no field",
				st.Name, plural(n, "request"), cost)
		}
	}
}

// muchLonger is how many times the expected price the highest one is before its reason is told.
const muchLonger = 10

// unbounded notes lanes without max_tokens, where the price may be far above what is expected because of them.
func (m *maker) unbounded() {
	var sum plan.Price
	var names []string
	for _, p := range m.plan.Parts {
		sum = sum.Plus(p.Cost)
		if p.Lane.Params.MaxTokens == 0 && !slices.Contains(names, p.Lane.Name) {
			names = append(names, p.Lane.Name)
		}
	}
	if len(names) > 0 && sum.High.Sum > muchLonger*sum.Expected.Sum {
		m.note("the highest price is that of answers as long as the models can write: max_tokens on %s %s, or in lane_defaults, lowers it",
			assay.Verb(len(names), "lane", "lanes"), strings.Join(names, ", "))
	}
}

// searching notes which lanes have tools that their provider runs: how much those bring into a prompt is not known before.
func (m *maker) searching() {
	seen := map[string]bool{}
	for _, p := range m.plan.Parts {
		kind, _ := m.in.Kind(p.Lane)
		price, _ := m.in.Catalog.Price(kind, p.Lane.Model)
		if !catalog.ToolsOf(p.Lane.Params, price.ByPrompt).Any || seen[p.Lane.Name] || p.Requests == 0 {
			continue
		}
		seen[p.Lane.Name] = true
		m.note("lane %s: its provider runs tools for it; the sums have their calls, and not the tokens of what they find", p.Lane.Name)
	}
}

// primed notes whose first request goes ahead so that the others read what they share from a cache.
func (m *maker) primed() {
	for i := range m.plan.Parts {
		if p := &m.plan.Parts[i]; p.Primed {
			m.note(
				"stage %s: one request of lane %s goes first, as a batch of its own: the others read what all share from the provider's "+
					"cache (`prompt_cache: false` sends all at once, for more)", p.Stage, p.Lane.Name)
		}
	}
}

const (
	rowBytes   = 400  // of a request in the ledger
	replyBytes = 1200 // of a reply around its text
)

// plural returns a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func gated(st *study.Stage) bool {
	return st.When.Source != "" || st.Lanes.Only.Source != "" || st.Keep != nil && (len(st.Keep.Stages()) > 0 || st.Verb() != study.VerbAsk)
}

func (m *maker) fail(at assay.Place, err error) {
	if problems, ok := err.(assay.Problems); ok {
		m.problems = append(m.problems, problems...)
		return
	}
	m.problems.Add(at, "", "%s", err)
}
