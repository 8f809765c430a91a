package estimate

import (
	"context"
	"math"

	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// compareItems plans one judge of a stage that compares items: its requests need no answer, so they are rendered, encoded and
// cut exactly as they would go out.
func (m *maker) compareItems(ctx context.Context, st *study.Stage, r plan.Path, l *study.Lane, wave int, rubric judge.Rubric) {
	if !m.wanted(st) {
		return
	}
	cut := r.Cut()
	mean, ok := m.known(ctx, st, l, rubric, cut)
	if !ok {
		return
	}
	m.add(st, exact(st, r, cut, wave), mean)
}

// known renders what a judge is asked without an answer: the mean request, and how all are cut. It is false where there is none, or one
// cannot be rendered.
func (m *maker) known(ctx context.Context, st *study.Stage, l *study.Lane, rubric judge.Rubric, cut *plan.Cut) (load, bool) {
	n := int64(0)
	var found texts
	shown := shapes{}
	text, buf := int64(0), []byte(nil)
	for q, err := range m.in.Known(ctx, st, l, m.options) {
		var line []byte
		files := int64(0)
		if err == nil {
			q.Request, files = hollow(q.Request, m.in.Uploads(l, q.Wire.Dialect))
			line, err = plan.AppendRequest(buf[:0], fillerID, &q.Request)
		}
		if err != nil {
			m.fail(st.At, err)
			return load{}, false
		}
		buf = line[:0]
		n++
		cut.Add(int32(min(int64(len(line))+files, math.MaxInt32)), 1)
		shown.add(plan.MediaOf(q.Prompt.Messages))
		text += int64(q.Prompt.Bytes())
		if !found.many {
			one := []string{textOf(q.Prompt)}
			found.add(one, one)
		}
	}
	if n == 0 {
		return load{}, false
	}
	mean := float64(text) / float64(n)
	return load{input: mean * m.perByte(&found, n, text), bytes: mean, answer: rubric.Length(),
		shown: shown.over(n)}, true
}
