package script

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// redone is what a run has to ask again. Its stages share it, and it grows while the run goes on.
type redone struct {
	mu  sync.RWMutex
	all map[redoKey][]store.Redo
	n   int

	rounds []Round // the retries of verdicts
}

type redoKey struct{ stage, lane, item string }

// of lists the further draws of an item that a lane has to make in a stage.
func (r *redone) of(stage, lane, item string) []store.Redo {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.all[redoKey{stage, lane, item}]
}

func (r *redone) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.n + len(r.rounds)
}

// rereads takes in what was ordered since the last look.
func (s *Script) rereads(ctx context.Context) error {
	all, err := s.Reader.Redos(ctx, s.run.No)
	if err != nil {
		return err
	}
	rounds, err := s.rounds(ctx, s.run.No)
	if err != nil {
		return err
	}
	if err := s.recallLooks(ctx); err != nil {
		return err
	}
	s.redone.mu.Lock()
	defer s.redone.mu.Unlock()
	s.redone.rounds = rounds
	if len(all) == s.redone.n {
		return nil
	}
	s.redone.all, s.redone.n = map[redoKey][]store.Redo{}, len(all)
	for _, r := range all {
		key := redoKey{r.Stage, r.Lane, r.Item}
		s.redone.all[key] = append(s.redone.all[key], r)
	}
	return nil
}

// redoes reports whether a redo is about a branch and a draw.
func redoes(r store.Redo, branch string, draw int) bool {
	return (r.Branch == "" || r.Branch == branch || strings.HasPrefix(branch, r.Branch+"/")) && (r.Draw == 0 || r.Draw == draw)
}

// extra lists the requests of a turn that a redo makes of a conversation: it is asked again from its first turn, as a draw
// of its own. Ways that begin alike share their first turns, as they do in the plan.
func (a *asking) extra(it assay.Item, _ int64, r store.Redo, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	last := a.turns()
	seen := map[assay.Key]bool{}
	for _, w := range a.talk.AllWays(last-1, it) {
		if !redoes(r, w.Branch(), w.Draw) {
			continue
		}
		for _, at := range append(a.talk.History(last-1, r.Lane, it, w), a.talk.At(last-1, r.Lane, it.ID, w)) {
			if at.Stage != a.talk.Stage.Name || at.Turn != turn || seen[at.Key()] {
				continue
			}
			seen[at.Key()] = true
			at.Draw += r.Nth * a.talk.Draws()
			out = append(out, at)
		}
	}
	return out
}

// planned returns the draw of the plan that a draw asks again, and how many draws of the plan lie between the two.
func (a *asking) planned(draw int) (of, further int) {
	n := a.talk.Draws()
	of = (draw-1)%n + 1
	return of, draw - of
}

// extra lists a judge's further votes on the answers of a turn about an item.
func (j *judging) extra(it assay.Item, _ int64, r store.Redo, turn int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, subject := range j.subjects(it, turn) {
		if !redoes(r, subject.Branch, subject.Draw) {
			continue
		}
		for _, p := range j.rubric.Prompts {
			out = append(out, j.request(subject, p.Name, r.Lane, j.votes-1+r.Nth))
		}
	}
	return out
}

// ballots returns the votes that a judge gives on one showing: those of the plan, and those that were asked for since.
func (c *contest) ballots(at assay.Coordinates) []int {
	var out []int
	for vote := range c.votes {
		out = append(out, vote)
	}
	for _, r := range c.redone.of(c.stage.Name, at.Judge, at.Item) {
		if redoes(r, at.Branch, at.Draw) {
			out = append(out, c.votes-1+r.Nth)
		}
	}
	return out
}

// extra lists a judge's further votes on the pairs that an item stands in.
func (c *laneContest) extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates {
	return c.further(c.at(it, ord, r.Lane, turn), r)
}

// extra lists a judge's further votes on the pairs in which an item is shown first.
func (c *itemContest) extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates {
	return c.further(c.at(it, ord, r.Lane, turn), r)
}

// further gives every showing among these requests one more vote.
func (c *contest) further(all []assay.Coordinates, r store.Redo) []assay.Coordinates {
	var out []assay.Coordinates
	for _, at := range all {
		if at.Vote == 0 && redoes(r, at.Branch, at.Draw) { // once for each showing
			at.Vote = c.votes - 1 + r.Nth
			out = append(out, at)
		}
	}
	return out
}

// Redo counts, by stage and lane, the requests that a redo adds to a run: its own, and those of the judges that read what
// it brings. A redo of what the run never asks adds none.
func (p *Library) Redo(ctx context.Context, run store.Run, r store.Redo) ([]store.Share, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	rec, ok := s.stages[r.Stage]
	if !ok || !s.settings.Wants(r.Stage) || !slices.ContainsFunc(rec.lanes(), func(l *study.Lane) bool { return l.Name == r.Lane }) {
		return nil, nil
	}
	if a, asks := rec.(*asking); asks && a.imported {
		return nil, nil // no lane here was asked
	}
	it, ord, err := s.itemOf(ctx, rec, r.Item)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Nth = max(r.Nth, 1)
	own := store.Share{Stage: r.Stage, Lane: r.Lane}
	read := map[*judging]int64{} // answers that the judges of a stage read
	for turn := 1; turn <= rec.turns(); turn++ {
		extra := rec.extra(it, ord, r, turn)
		own.Requests += int64(len(extra))
		for _, j := range s.readers(rec, it.ID, r.Lane, turn) {
			read[j] += int64(len(extra) * len(j.rubric.Prompts) * j.votes)
		}
	}
	if own.Requests == 0 {
		return nil, nil
	}
	out := []store.Share{own}
	for j, n := range read {
		for _, l := range j.lanes() {
			out = append(out, store.Share{Stage: j.stage.Name, Lane: l.Name, Requests: n})
		}
	}
	judged := out[1:]
	sort.Slice(judged, func(i, j int) bool {
		return judged[i].Stage+"\x00"+judged[i].Lane < judged[j].Stage+"\x00"+judged[j].Lane
	})
	return out, nil
}

// itemOf finds an item of a stage and its place in its input.
func (s *Script) itemOf(ctx context.Context, rec stage, id string) (assay.Item, int64, error) {
	ord := int64(-1)
	for it, err := range s.input.Rows.Items(ctx, rec.items()) {
		if ord++; err != nil || it.ID == id {
			return it, ord, err
		}
	}
	return assay.Item{}, 0, store.ErrNotFound
}

// readers returns the judge stages of the run that read a lane's answers of a turn about an item.
func (s *Script) readers(rec stage, item, lane string, turn int) []*judging {
	source, ok := rec.(*asking)
	if !ok {
		return nil
	}
	var out []*judging
	for stage, other := range s.stages {
		j, ok := other.(*judging)
		if ok && s.settings.Wants(stage) && slices.Contains(j.sources, source) && j.reads(source, turn) && j.about(lane, source) {
			out = append(out, j)
		}
	}
	return out
}

// about reports whether the stage judges a lane of a source.
func (j *judging) about(lane string, source *asking) bool {
	return slices.ContainsFunc(source.lanes(), func(l *study.Lane) bool { return l.Name == lane && j.picks(l) })
}
