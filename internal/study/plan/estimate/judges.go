package estimate

import (
	"context"
	"math"
	"slices"

	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// unsampled is how many judge requests a compare stage may make without saying so in the study.
const unsampled = 10_000

// judge plans a judge stage: every judge reads every answer it is about.
func (m *maker) judge(ctx context.Context, st *study.Stage) {
	wave, subjects, unknown := m.after(st), int64(0), false
	tokens := 0.0
	var shown shapes
	rubric, err := m.in.Rubric(st)
	of := plan.Of(st, rubric)
	for _, name := range st.Judge.List {
		from := m.given[name]
		if from == nil {
			continue
		}
		unknown = unknown || from.unknown
		n := from.reads(of)
		if n == 0 && from.last() > 0 {
			m.problems.Warn(st.At, "a conversation with `turns`, or another `of`, would give it some",
				"stage %s has nothing to judge in stage %s: %s", st.Name, name, unread(st))
		}
		subjects += n * int64(len(m.read(st, from)))
		tokens = math.Max(tokens, from.quoted(of))
		shown = from.showing(0)
	}
	m.given[st.Name] = &answers{wave: wave}
	if err == nil {
		m.judging(ctx, st, rubric)
	}
	if err != nil || len(rubric.Prompts) == 0 {
		m.given[st.Name].wave = wave - 1 // verdicts without a request wait for no answer
		return
	}
	templates := int64(len(rubric.Prompts))
	shown = m.ownShown(ctx, st, shown)
	for _, l := range m.in.Study.LanesNamed(st.Judges.List) {
		r := m.in.Path(st, l)
		m.add(st, plan.Part{
			Lane: r.Lane, Turn: 1, Wave: wave, Mode: r.Mode, Gated: gated(st) || unknown, Requests: subjects * templates * plan.Draws(st),
		}, load{input: rubricWeight(rubric) + tokens, answer: rubric.Length(), shown: shown})
	}
}

// ownShown returns what a judge is shown: what the stage has of its own, else what the models were shown whose answers it reads.
func (m *maker) ownShown(ctx context.Context, st *study.Stage, theirs shapes) shapes {
	if !st.Has("media") {
		return theirs
	}
	if own := m.shown(ctx, st); len(own) > 0 {
		return own[0]
	}
	return nil
}

// slices reports items that a judge stage would never read: it goes by those of its first source, and others may ask a slice
// of them only.
func (m *maker) slices(ctx context.Context, st *study.Stage) {
	whole := m.in.Root(st)
	var ids map[string]bool
	for _, name := range st.Judge.List {
		source, ok := m.in.Study.Stage(name)
		if !ok || m.in.Root(source) == whole {
			continue
		}
		if ids == nil {
			var err error
			if ids, err = m.in.IDs(ctx, whole); err != nil {
				m.fail(st.At, err)
				return
			}
		}
		for it, err := range m.in.Rows.Items(ctx, m.in.Root(source)) {
			if err != nil {
				m.fail(st.At, err)
				return
			}
			if !ids[it.ID] {
				m.problems.Add(st.Where.Key("judge"),
					"name the stage that asks all items first, or judge the others in a stage of their own",
					"stage %s would not judge item %q of stage %s: %s, which goes first, does not ask it", st.Name, it.ID, name,
					st.Judge.List[0])
				break
			}
		}
	}
}

// read returns the lanes whose answers a stage reads.
func (m *maker) read(st *study.Stage, from *answers) []*study.Lane {
	if len(st.Among.List) > 0 {
		return within(from.lanes, st.Among.List)
	}
	return from.lanes
}

// unread returns why a judge stage is about none of the answers there are.
func unread(st *study.Stage) string {
	if st.Of.Turn > 0 {
		return "there is no turn " + st.Of.String()
	}
	return "rubric " + st.Rubric.Name + " holds later answers against the first, and there is one turn"
}

// within returns the lanes that names and globs pick.
func within(lanes []*study.Lane, names []string) []*study.Lane {
	var out []*study.Lane
	for _, l := range lanes {
		if slices.ContainsFunc(names, func(n string) bool { return study.Picks(n, l) }) {
			out = append(out, l)
		}
	}
	return out
}

// reads returns how many answers of one lane are read.
func (a *answers) reads(of study.Of) int64 {
	n := int64(0)
	for i, answers := range a.turns {
		if of.Reads(i+1, a.span()) {
			n += answers
		}
	}
	return n
}

// at returns how many answers of one lane a turn has, counted from 1.
func (a *answers) at(turn int) int64 {
	if turn < 1 || turn > len(a.turns) {
		return 0
	}
	return a.turns[turn-1]
}

func (a *answers) span() study.Turns { return study.Turns{N: len(a.turns), GoesOn: a.goes} }

// quoted returns how many tokens of a conversation one prompt of a judge stage quotes.
func (a *answers) quoted(of study.Of) float64 {
	switch of.Which {
	case study.OfConversation:
		return a.tokens + a.answer
	case study.OfLater:
		return 2*a.answer + 100
	}
	return a.answer
}

func rubricWeight(r judge.Rubric) float64 {
	bytes := len(r.System) * len(r.Prompts)
	for _, p := range r.Prompts {
		bytes += len(p.Text)
	}
	return float64(bytes)/plan.BytesPerToken/float64(max(1, len(r.Prompts))) + 60 // what the item's fields bring
}

// compare plans a compare stage: every judge reads every pair, in one order or both.
func (m *maker) compare(ctx context.Context, st *study.Stage) {
	wave := m.after(st)
	m.given[st.Name] = &answers{wave: wave}
	groups, ok := m.pairs(ctx, st)
	rubric, err := m.in.Rubric(st)
	if !ok || err != nil {
		return
	}
	if st.Pairs != nil && st.Pairs.Adaptive != nil {
		m.rounds(ctx, st, groups, wave, rubric)
		return
	}
	design := plan.Design(st, groups.Field)
	schedule, err := pairs.New(design)
	if err != nil {
		m.fail(st.At, err)
		return
	}
	each := schedule.Len() * int64(max(1, len(rubric.Prompts))*len(m.in.TraitsOf(st))) * plan.Draws(st)
	judges := m.in.Study.LanesNamed(st.Judges.List)
	if total := each * int64(len(judges)); total > unsampled && !meant(st.Pairs) {
		m.problems.Add(st.Where.Key("compare"), sayPairs(st.Pairs), "stage %s would make %d judge requests", st.Name, total)
		return
	}
	if len(judges)+len(groups.Lanes) == 0 && m.wanted(st) {
		m.plan.Unasked += schedule.Len()
	}
	var theirs shapes
	if from := m.given[st.Compare]; from != nil {
		theirs = from.showing(0)
	}
	shown := m.ownShown(ctx, st, theirs)
	for _, l := range judges {
		r := m.in.Path(st, l)
		if len(groups.Lanes) == 0 && m.in.Known != nil && each <= mostRendered && len(rubric.Prompts) > 0 {
			m.compareItems(ctx, st, r, l, wave, rubric)
			continue
		}
		m.add(st, plan.Part{Lane: r.Lane, Turn: 1, Wave: wave, Mode: r.Mode, Gated: gated(st) || groups.unknown, Requests: each},
			load{input: rubricWeight(rubric) + 2*m.compared(st), answer: rubric.Length(), shown: shown})
	}
	if all := design.All(); design.Pick == pairs.Sample && design.N > all && m.options.Limit == 0 && !groups.unknown {
		m.problems.Warn(st.Pairs.At, "say pairs: all", "stage %s: a sample of %d is more than the %s there are, which are all asked",
			st.Name, design.N, plural(all, "pair"))
	}
	m.rankable(st, schedule, groups)
	m.comparing(ctx, st, schedule.Pairs(), design.All(), groups)
}

// compared returns how many tokens each side of a comparison has.
func (m *maker) compared(st *study.Stage) float64 {
	if from := m.given[st.Compare]; from != nil && from.answer > 0 {
		return from.answer
	}
	return visibleTokens
}

// sayPairs returns how a study means many pairs.
func sayPairs(p *study.Pairs) string {
	if p != nil && p.Within != "" {
		return "say all: true, or sample: 2000, beside within"
	}
	return "say pairs: all, or pairs: {sample: 2000}"
}

// meant reports whether a study says in so many words how many pairs it wants.
func meant(p *study.Pairs) bool {
	return p != nil && (p.All || p.Sample.Given() || p.File.File != "")
}

// grouping holds what meets in a compare stage.
type grouping struct {
	plan.Field
	unknown bool // it is behind a gate, and may be less, or nothing
}

func (m *maker) pairs(ctx context.Context, st *study.Stage) (grouping, bool) {
	if from := m.given[st.Compare]; from != nil {
		lanes := m.read(st, from)
		if k := int64(len(lanes)); k < 2 {
			if len(m.options.Lanes) > 0 { // not the study's fault
				m.note("stage %s compares nothing: %s of it is chosen", st.Name, plural(k, "lane"))
				return grouping{}, false
			}
			m.problems.Add(st.At, "name two with `among`", "stage %s has %s to compare", st.Name, plural(k, "lane"))
			return grouping{}, false
		}
		g := grouping{Field: plan.Field{Lanes: lanes, Slots: from.at(st.Of.One(from.span()))}, unknown: from.unknown}
		return g, m.place(ctx, st, &g.Field)
	}
	n, err := m.in.Items.Count(ctx, st.Compare)
	if err != nil {
		m.fail(st.At, err)
		return grouping{}, false
	}
	if m.options.Limit > 0 {
		n = min(n, m.options.Limit)
	}
	m.comparable(ctx, st)
	g := grouping{Field: plan.Field{Slots: int64(n)}}
	return g, m.place(ctx, st, &g.Field) && m.group(ctx, st, &g.Field)
}

// mostRendered is how many comparisons of one judge are rendered to be counted; more are estimated.
const mostRendered = 200_000
