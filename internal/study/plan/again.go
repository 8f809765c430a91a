package plan

import "assay/internal/study"

// again notes what a stage may ask once more, and what that costs at most: how many verdicts fail is not known before.
func (m *maker) again(st *study.Stage) {
	own := m.plan.Sum(func(p Part) bool { return p.Stage == st.Name })
	if own.Requests == 0 {
		return
	}
	if st.SecondTry != nil && *st.SecondTry {
		m.note("stage %s: a malformed verdict is asked for once more; if all %s were, that would cost %s more (%s to %s), which no sum here has",
			st.Name, plural(own.Requests, "request"), own.Cost.Expected, own.Cost.Low, own.Cost.High)
	}
	if st.Fallback == "" {
		return
	}
	for _, l := range m.Study.LanesNamed([]string{st.Fallback}) {
		cost := m.inPlace(st, l)
		m.note("stage %s: what a judge refuses or garbles is asked of lane %s; if all %s were, that would cost %s more (%s to %s), which no sum here has",
			st.Name, l.Name, plural(own.Requests, "request"), cost.Expected, cost.Low, cost.High)
	}
}

// inPlace is what a lane costs that answers all requests of a stage in the place of its judges.
func (m *maker) inPlace(st *study.Stage, l *study.Lane) Price {
	var sum Price
	rubric, err := m.Rubric(st)
	if err != nil {
		return sum // reported where the stage is planned
	}
	r := m.path(st, l)
	for _, p := range m.plan.Parts {
		if p.Stage != st.Name {
			continue
		}
		kind, _ := m.kind(p.Lane)
		input := float64(p.Input.Expected) / float64(p.Requests) / m.Catalog.TokenFactor(kind, p.Lane.Model)
		instead := Part{Lane: r.lane, Turn: p.Turn, Mode: r.mode, Requests: p.Requests}
		m.price(&instead, load{input: input, answer: rubric.Length()})
		sum = sum.Plus(instead.Cost)
	}
	return sum
}
