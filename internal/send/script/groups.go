package script

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/rounds"
	"assay/internal/send/script/stages"
)

// Group is the requests of one lane in one turn of one stage, and how they go out.
type Group struct {
	store.GroupKey     // its lane is the one that answers: a judge's, where a judge is asked
	Wave           int // from 1
	Mode           store.SegmentMode
	Final          bool // nothing can join any more
	Whole          bool // nothing more joins before what is ready was answered
}

// Groups lists what can be asked. A group whose forerunners are not settled may still grow.
func (s *Script) Groups(ctx context.Context) ([]Group, error) {
	now, err := s.Verdicts.Progress(ctx)
	if err != nil {
		return nil, err
	}
	var out []Group
	for st, rec := range s.stages.InOrder() {
		if !s.settings.Wants(st.Name) || imported(rec) {
			continue
		}
		tries, turns := rec.Tries(), rec.Turns()
		for nth := range len(tries) * turns {
			if s.settings.Pilot && nth > 0 {
				break
			}
			for _, l := range rec.Lanes() {
				key := store.GroupKey{Stage: st.Name, Lane: l.Name, Turn: nth%turns + 1, Again: tries[nth/turns]}
				if s.Conditions.Gate(st, l.Name) == conditions.Undecided || !stages.Makes(rec, l.Name, key.Again) {
					continue
				}
				g := Group{GroupKey: key, Wave: s.wavesBefore(st.Name) + nth + 1, Mode: store.Batch,
					Final: s.Conditions.Certain(st, l.Name)}
				if s.settings.Pilot || s.input.Mode(st, l) == assay.ModeLive {
					g.Mode = store.Live
				}
				for _, earlier := range stages.Before(rec, key) {
					g.Final = g.Final && now.Settled[earlier]
				}
				if r := s.stages.Rounds(st.Name); r != nil && s.Conditions.Gate(st, "") != conditions.Dropped {
					g.inRound(r)
					g.Whole = s.Verdicts.Ready(st, rec, now) && (key.Again == again.FirstAsked || !now.Moving[st.Name])
				}
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// inRound makes a group one of a stage that buys its pairs in rounds: each round is a wave of its own, and more may join until the last.
func (g *Group) inRound(r *rounds.Rounds) {
	looks, stop := r.Done()
	g.Wave += looks
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
		if rec, ok := s.stages.Of(n); ok && !imported(rec) {
			out = max(out, s.wavesBefore(n)+rec.Turns()*len(rec.Tries()))
		}
	}
	return out
}

// imported reports whether a stage has all its answers from the start.
func imported(rec stages.Stage) bool {
	a, ok := rec.(*stages.Asking)
	return ok && a.Imported()
}
