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
	mean, sizes, ok := m.known(ctx, st, l, rubric)
	if !ok {
		return
	}
	m.add(st, m.exact(st, r, sizes, wave), mean)
}

// known renders what a judge is asked without an answer: the mean request, and the sizes of all. It is false where there is none, or one
// cannot be rendered.
func (m *maker) known(ctx context.Context, st *study.Stage, l *study.Lane, rubric judge.Rubric) (load, []int32, bool) {
	var sizes []int32
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
			return load{}, nil, false
		}
		buf = line[:0]
		sizes = append(sizes, int32(min(int64(len(line))+files, math.MaxInt32)))
		shown.add(plan.MediaOf(q.Prompt.Messages))
		text += int64(q.Prompt.Bytes())
		if !found.many {
			one := []string{textOf(q.Prompt)}
			found.add(one, one)
		}
	}
	if len(sizes) == 0 {
		return load{}, nil, false
	}
	mean := float64(text) / float64(len(sizes))
	return load{input: mean * m.perByte(&found, int64(len(sizes)), text), bytes: mean, answer: rubric.Length(),
		shown: shown.over(int64(len(sizes)))}, sizes, true
}
