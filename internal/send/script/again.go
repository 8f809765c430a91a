package script

import (
	"context"
	"errors"
	"slices"
	"sort"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/stages"
	"assay/internal/study"
)

// Redo counts, by stage and lane, the requests that a redo adds to a run: its own, and those of the judges that read what
// it brings. A redo of what the run never asks adds none.
func (p *Library) Redo(ctx context.Context, run store.Run, r store.Redo) ([]store.Share, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	rec, ok := s.stages.Of(r.Stage)
	if !ok || !s.settings.Wants(r.Stage) || !slices.ContainsFunc(rec.Lanes(), func(l *study.Lane) bool { return l.Name == r.Lane }) {
		return nil, nil
	}
	if imported(rec) {
		return nil, nil // no lane here was asked
	}
	row, err := s.stages.Row(ctx, rec, r.Item)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Nth = max(r.Nth, 1)
	own := store.Share{Stage: r.Stage, Lane: r.Lane}
	read := map[*stages.Judge]int64{} // requests of the judges of a stage
	for turn := 1; turn <= rec.Turns(); turn++ {
		extra := rec.Extra(row.Item, row.Ord, r, turn)
		own.Requests += int64(len(extra))
		for _, j := range s.stages.Readers(r.Stage, r.Lane, turn) {
			if s.settings.Wants(j.Stage().Name) {
				read[j] += int64(len(extra)) * j.PerAnswer()
			}
		}
	}
	if own.Requests == 0 {
		return nil, nil
	}
	out := []store.Share{own}
	for j, n := range read {
		for _, l := range j.Lanes() {
			out = append(out, store.Share{Stage: j.Stage().Name, Lane: l.Name, Requests: n})
		}
	}
	judged := out[1:]
	sort.Slice(judged, func(i, j int) bool {
		return judged[i].Stage+"\x00"+judged[i].Lane < judged[j].Stage+"\x00"+judged[j].Lane
	})
	return out, nil
}

// Retried counts the requests of a run that retries of verdicts added to its plan, by stage and judge.
func (p *Library) Retried(ctx context.Context, run store.Run) (map[store.Share]int64, error) {
	sent, err := p.Reader.SentByGroup(ctx, run.No)
	out := map[store.Share]int64{}
	for g, n := range sent {
		if g.Again >= again.FirstRetry {
			out[store.Share{Stage: g.Stage, Lane: g.Lane}] += n
		}
	}
	return out, err
}

// Retries counts, by stage and judge, the verdicts of a run that a retry would ask for again, and those that stay as they are.
func (p *Library) Retries(ctx context.Context, run store.Run, what []string) (asked []store.Share, kept int64, err error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	retry := again.Retry{Verdicts: what}
	for _, st := range s.input.Study.Stages {
		rec, ok := s.stages.Judging(st.Name)
		if !ok || !s.settings.Wants(st.Name) {
			continue
		}
		by := map[string]int64{}
		for v, err := range p.Reader.Verdicts(ctx, run.No, st.Name) {
			var failed map[assay.Key]store.Answer
			if err == nil && v.State == assay.VerdictFailed && v.Segment != 0 {
				failed, err = p.Reader.AnswersTo(ctx, run.No, []assay.Ref{again.GivenBy(v).Ref()})
			}
			if err != nil {
				return nil, 0, err
			}
			switch {
			case retry.Asks(v, failed) &&
				slices.ContainsFunc(rec.Lanes(), func(l *study.Lane) bool { return l.Name == v.At.Judge }):
				by[v.At.Judge]++
			case v.State == assay.VerdictValid || v.State == assay.VerdictAbstained:
				kept++
			}
		}
		for _, name := range rec.Judges() {
			if by[name] > 0 {
				asked = append(asked, store.Share{Stage: st.Name, Lane: name, Requests: by[name]})
			}
		}
	}
	return asked, kept, nil
}
