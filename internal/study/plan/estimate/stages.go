package estimate

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// ask plans an ask stage: its first turn exactly, the others from the number of branches.
func (m *maker) ask(ctx context.Context, st *study.Stage) {
	lanes := m.chosen(m.in.Study.Contestants(st))
	give := &answers{lanes: lanes, answer: m.visible(st.Name, lanes), gated: gated(st), unknown: gated(st)}
	m.given[st.Name] = give
	wave := m.after(st)
	if left := m.in.NotAsked(st); len(left) > 0 && m.wanted(st) {
		m.note("stage %s asks all lanes but those that judge: %s (`lanes: \"*\"` asks them, too)", st.Name, strings.Join(left, ", "))
	}
	for _, l := range lanes {
		if strings.HasPrefix(l.Name, "judge") && len(lanes) > 1 && m.wanted(st) {
			m.note("stage %s asks lane %s like the others: no stage has it judge (`lanes:` on the stage names those that it asks)",
				st.Name, l.Name)
		}
	}
	if len(lanes) == 0 {
		give.wave = wave
		return
	}
	talk, err := m.in.Conversation(ctx, st)
	if err != nil {
		m.fail(st.At, err)
		return
	}
	var routes []plan.Path
	for _, l := range lanes {
		routes = append(routes, m.in.Path(st, l))
	}
	m.walked[st.Ask] = true
	found, problems := m.measure(ctx, talk, routes)
	m.problems = append(m.problems, problems...)
	if len(problems.Errors()) > 0 || found.asked == 0 {
		return
	}
	m.plan.Items[st.Ask] = found.items
	for i, r := range routes {
		if l := found.long[i]; l.n > 0 {
			m.problems.Warn(l.at, "it will be rejected, or cut; shorten it, or leave it out with `where`",
				"lane %s: item %q%s about more than the %d tokens that %s reads", r.Lane.Name, l.first, others(l.n), r.Window, r.Lane.Model)
		}
	}
	if n := found.equal(); n > 0 {
		m.note("stage %s: %s exactly what another one of it asks; each is asked and paid for", st.Name, asks(n))
	}
	rate := m.perByte(&found.texts, found.asked, found.text)
	mean := load{bytes: float64(found.text) / float64(found.asked)}
	mean.input, mean.shared = mean.bytes*rate, float64(found.shared)*rate/float64(found.asked)
	give.shown = m.shown(ctx, st)
	mean.shown = give.showing(1)
	for i, r := range routes {
		m.add(st, exact(st, r, found.cuts[i], wave), mean)
	}
	give.items = int64(found.items)
	give.turns = append(give.turns, found.asked*plan.Draws(st))
	give.start, give.wave, give.tokens = wave, wave, mean.input
	m.laterTurns(ctx, st, talk, routes, give, mean)
}

// others returns the verb after the first of n items.
func others(n int64) string {
	if n == 1 {
		return " has"
	}
	return fmt.Sprintf(" and %d more have", n-1)
}

func asks(n int64) string {
	if n == 1 {
		return "1 question asks"
	}
	return plural(n, "question") + " ask"
}

// exact returns the part of one lane whose requests were all measured.
func exact(st *study.Stage, r plan.Path, cut *plan.Cut, wave int) plan.Part {
	p := plan.Part{Lane: r.Lane, Turn: 1, Wave: wave, Mode: r.Mode, Exact: !gated(st), Gated: gated(st), Segments: cut.Segments()}
	for _, s := range p.Segments {
		p.Requests, p.Bytes = p.Requests+int64(s.Requests), p.Bytes+s.Bytes
	}
	if r.Mode != assay.ModeBatch {
		p.Segments = nil
	}
	return p
}

// laterTurns counts the turns that follow answers not there yet. The control is a branch of its own from the first
// pressure on.
func (m *maker) laterTurns(ctx context.Context, st *study.Stage, talk *plan.Conversation, routes []plan.Path, give *answers, w load) {
	plain := give.last() - give.control
	starts := st.Control != nil && st.Control.On
	start := 1
	if st.Verb() == study.VerbContinue {
		start = 0
	}
	for k := start; k < len(talk.Steps); k++ {
		step := talk.Steps[k]
		if starts {
			give.control += plain * int64(st.Control.Draws)
			starts = false
		}
		plain = m.fanOut(ctx, talk, k, plain, give.items)
		w.input, w.bytes, w.shown = w.input+give.answer+sayTokens(step), 0, give.showing(k+1)
		give.wave++
		give.turns = append(give.turns, plain+give.control)
		for _, r := range routes {
			m.add(st, plan.Part{
				Lane: r.Lane, Turn: k + 1, Wave: give.wave, Mode: r.Mode, Gated: give.gated,
				Control: give.control > 0, Requests: plain + give.control,
			}, w)
		}
	}
	give.tokens = w.input
}

// fanOut returns how many messages follow n answers at a step, at most.
func (m *maker) fanOut(ctx context.Context, t *plan.Conversation, k int, n, items int64) int64 {
	step := t.Steps[k]
	if step.Each == nil {
		return n * int64(len(step.Says))
	}
	if step.Each.Match == "" {
		return n * int64(len(t.Branches(k, assay.Item{})))
	}
	rows := int64(0)
	for it, err := range m.in.FirstItems(ctx, m.in.Root(t.Stage), m.options.Limit) {
		if err != nil {
			break // reported where the items are read
		}
		if kept, err := plan.Keeps(t.Stage, it); err == nil && kept {
			rows += int64(len(t.Branches(k, it)))
		}
	}
	return (n*rows + items - 1) / max(1, items) // the mean over items
}

func sayTokens(step plan.Step) float64 {
	total, n := 0.0, 0
	for _, b := range step.Says {
		total, n = total+guess(b.Text), n+1
	}
	if step.Each != nil {
		total, n = guess(step.Each.Say)+40, 1
	}
	for _, g := range step.Given {
		total += guess(g.Text) * float64(max(1, n))
	}
	return total / float64(max(1, n))
}

// proceed plans a continue stage: every turn follows answers of another stage.
func (m *maker) proceed(ctx context.Context, st *study.Stage) {
	from := m.given[st.Continue]
	if from == nil {
		return
	}
	lanes := m.chosen(from.lanes)
	if len(st.Lanes.Among.List) > 0 {
		lanes = m.chosen(m.in.Study.LanesNamed(st.Lanes.Among.List))
	}
	give := &answers{lanes: lanes, answer: m.visible(st.Name, lanes), items: from.items,
		wave: m.after(st) - 1, turns: []int64{from.last() * plan.Draws(st)},
		control: from.control * plan.Draws(st), gated: true, goes: st.GoesOn(), unknown: from.unknown || gated(st)}
	m.given[st.Name] = give
	var routes []plan.Path
	for _, l := range lanes {
		routes = append(routes, m.in.Path(st, l))
	}
	talk, err := m.in.Conversation(ctx, st)
	if err != nil {
		m.fail(st.At, err)
		return
	}
	give.shown = m.shown(ctx, st)
	m.laterTurns(ctx, st, talk, routes, give, load{input: from.tokens})
	give.turns = give.turns[1:]
}
