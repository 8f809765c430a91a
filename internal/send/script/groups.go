package script

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/study/plan"
)

// Group is what one lane is asked in one turn of one stage, and how it goes out.
type Group struct {
	store.GroupKey     // its lane is the one that answers: a judge's, where a judge is asked
	Wave           int // from 1
	Mode           store.SegmentMode
	Final          bool // nothing can join any more
	Whole          bool // nothing more joins before what is ready was answered
}

// Groups lists what can be asked. A group whose forerunners are not settled may still grow.
func (s *Script) Groups(ctx context.Context) ([]Group, error) {
	s.mu.Lock()
	settled, err := s.settled(ctx)
	var moving map[string]bool
	if err == nil {
		moving, err = s.moving(ctx)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var out []Group
	for _, st := range plan.InOrder(s.input.Study) {
		rec, ok := s.stages[st.Name]
		if !ok || !s.settings.Wants(st.Name) || imports(rec) {
			continue
		}
		tries, turns := rec.tries(), rec.turns()
		for nth := range len(tries) * turns {
			if s.settings.Pilot && nth > 0 {
				break
			}
			for _, l := range rec.lanes() {
				key := store.GroupKey{Stage: st.Name, Lane: l.Name, Turn: nth%turns + 1, Again: tries[nth/turns]}
				if s.gated(st, l.Name) == undecided || !makes(rec, l.Name, key.Again) {
					continue
				}
				g := Group{GroupKey: key, Wave: s.wavesBefore(st.Name) + nth + 1, Mode: store.Batch, Final: s.certain(st, l.Name)}
				if s.settings.Pilot || s.input.Mode(st, l) == assay.ModeLive {
					g.Mode = store.Live
				}
				for _, earlier := range before(rec, key) {
					g.Final = g.Final && settled[earlier]
				}
				if r := roundsOf(rec); r != nil && s.gated(st, "") != dropped {
					s.roundGroup(&g, r, s.ready(st, rec, settled) && (key.Again == firstAsked || !moving[st.Name]))
				}
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// roundGroup makes a group one of a stage that buys its pairs in rounds: each round is a wave of its own, and more may join until the last.
func (s *Script) roundGroup(g *Group, r *rounds.Rounds, whole bool) {
	looks, stop := r.Done()
	g.Wave += looks
	g.Whole = whole
	g.Final = g.Final && stop != store.StopNone
}

// wavesBefore returns how many waves have to go out before the first of a stage.
func (s *Script) wavesBefore(stage string) int {
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return 0
	}
	out := 0
	for _, n := range st.Needs() {
		if rec, ok := s.stages[n]; ok && !imports(rec) {
			out = max(out, s.wavesBefore(n)+rec.turns()*len(rec.tries()))
		}
	}
	return out
}

// imports reports whether a stage has all its answers from the start.
func imports(rec stage) bool {
	a, ok := rec.(*asking)
	return ok && a.imported
}

// settled returns the groups of which nothing more will come: all of it was staged, every segment has come to its end and was
// absorbed, and nothing waits to be sent again. A lane that was stopped brings nothing more either. What settled since the
// last Absorb does not count yet: its verdicts are not there, and what they call for would be taken for nothing.
func (s *Script) settled(ctx context.Context) (map[store.GroupKey]bool, error) {
	out := map[store.GroupKey]bool{}
	groups, err := s.Reader.Groups(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		out[g.GroupKey] = g.Complete
	}
	lanes, err := s.Reader.Lanes(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		if rec, ok := s.stages[l.Stage]; ok && l.State == store.LaneStopped {
			for _, g := range groupsOf(rec, l.Stage, l.Name) {
				out[g] = true
			}
		}
	}
	segments, err := s.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		if s.unread(g) {
			out[g.GroupKey] = false
		}
	}
	for r, err := range s.Reader.Resends(ctx, s.run.No) {
		if err != nil {
			return nil, err
		}
		out[r.Group()] = false
	}
	// A turn is settled only when those before it are; what is imported was there before the run.
	for stage, rec := range s.stages {
		for _, l := range rec.lanes() {
			all := groupsOf(rec, stage, l.Name)
			for i, g := range all {
				out[g] = (out[g] || imports(rec)) && (i == 0 || out[all[i-1]])
			}
		}
	}
	return out, nil
}
