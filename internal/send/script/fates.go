package script

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/expr"
)

// fate is what the conditions of a study say about a request.
type fate uint8

const (
	undecided fate = iota // what a condition asks for is not there yet
	kept
	dropped
)

// trial is one stage's conditions on a request: on its own stage, or on one that it follows.
type trial struct {
	stage *study.Stage
	item  *assay.Item
	lane  string                // whose answer it is about
	talks [][]assay.Coordinates // conversations whose verdicts `where` sees, each with its latest answer first
	all   bool                  // it has to hold for all of them, not for one
}

// conditional reports whether requests of a stage may turn out not to be asked.
func conditional(st *study.Stage) bool {
	return st.Gate != nil || st.LaneGate != nil || asksVerdicts(st)
}

// asksVerdicts reports whether the `where` of a stage looks at verdicts. One that looks at the item alone was obeyed when the
// requests were listed.
func asksVerdicts(st *study.Stage) bool { return st.Keep != nil && len(st.Keep.Stages()) > 0 }

// keeps obeys a `where` that looks at the item alone. An item that it cannot be decided for was reported before the run began.
func keeps(st *study.Stage, it assay.Item) bool {
	if st.Keep == nil || asksVerdicts(st) {
		return true
	}
	ok, err := st.Keep.Bool(expr.Vars{Item: &it})
	return ok && err == nil
}

// fates returns what becomes of the requests of a block; nil: all are kept.
func (s *Script) fates(ctx context.Context, rec stage, block []wanted) ([]fate, error) {
	if !rec.conditional() || len(block) == 0 {
		return nil, nil
	}
	all := make([][]trial, len(block))
	// Which stages are closed is noted before the verdicts are read: a stage that closes in between has some we do not see.
	b := &bench{Script: s, verdicts: map[assay.Key]store.Verdict{}, over: s.closedNow()}
	for i, w := range block {
		trials, err := rec.trials(w.item, w.at)
		if err != nil {
			return nil, err
		}
		all[i] = trials
		for _, t := range trials {
			b.want(t)
		}
		if w.at.Again > 0 {
			b.keys = append(b.keys, firstTry(w.at).Key())
		}
	}
	var err error
	if b.verdicts, err = s.Reader.VerdictsAt(ctx, s.run.No, b.keys); err != nil {
		return nil, err
	}
	if err := b.readSent(ctx, block); err != nil {
		return nil, err
	}
	out := make([]fate, len(block))
	for i, w := range block {
		if out[i], err = b.decide(w, all[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alive leaves out what is dropped. False: something is undecided.
func alive(block []wanted, fates []fate) ([]wanted, bool) {
	if fates == nil {
		return block, true
	}
	var out []wanted
	certain := true
	for i, w := range block {
		certain = certain && fates[i] != undecided
		if fates[i] == kept {
			out = append(out, w)
		}
	}
	return out, certain
}

// bench is the verdicts that decide about a block of requests.
type bench struct {
	*Script
	keys     []assay.Key
	verdicts map[assay.Key]store.Verdict
	sent     map[assay.Key]store.Answer // of requests of judges that further tries depend on
	over     map[string]bool            // stages that were closed before the verdicts were read
}

// want notes the verdicts that a trial looks at.
func (b *bench) want(t trial) {
	if !asksVerdicts(t.stage) {
		return
	}
	for _, ref := range t.stage.Keep.Stages() {
		for _, talk := range t.talks {
			if j, subject, ok := b.subject(ref.Stage, talk); ok {
				for _, at := range j.readings(subject, ref.Judge) {
					b.keys = append(b.keys, at.Key())
				}
			}
		}
	}
}

// subject returns the latest answer of a conversation that a stage judges.
func (b *bench) subject(stage string, talk []assay.Coordinates) (*judging, assay.Coordinates, bool) {
	j, ok := b.stages[stage].(*judging)
	if !ok {
		return nil, assay.Coordinates{}, false
	}
	for _, at := range talk {
		if s, err := j.source(at.Stage); err == nil && j.reads(s, at.Turn) && j.about(at.Lane, s) {
			return j, at, true
		}
	}
	return nil, assay.Coordinates{}, false
}

func (b *bench) decide(w wanted, trials []trial) (fate, error) {
	out := kept
	for _, t := range trials {
		f, err := b.try(t)
		if err != nil {
			return undecided, fmt.Errorf("item %q in stage %s: %w", w.item.ID, w.at.Stage, err)
		}
		if f == dropped {
			return dropped, nil
		}
		out = min(out, f)
	}
	if w.at.Again == firstAsked || out != kept {
		return out, nil
	}
	return b.tried(w.at), nil
}

// try holds one trial. A gate comes before the verdicts.
func (b *bench) try(t trial) (fate, error) {
	if f := b.gated(t.stage, t.lane); f != kept {
		return f, nil
	}
	if !asksVerdicts(t.stage) {
		return kept, nil
	}
	found := map[fate]int{}
	for _, talk := range t.talks {
		w := &witness{bench: b, talk: talk}
		ok, err := t.stage.Keep.Bool(expr.Vars{Item: t.item, Source: w})
		switch {
		case err != nil:
			return undecided, err
		case w.waits:
			found[undecided]++
		case ok:
			found[kept]++
		default:
			found[dropped]++
		}
	}
	switch {
	case t.all && found[dropped] > 0, !t.all && found[kept]+found[undecided] == 0:
		return dropped, nil
	case t.all && found[undecided] > 0, !t.all && found[kept] == 0:
		return undecided, nil
	}
	return kept, nil
}

// witness answers what a condition asks about one conversation.
type witness struct {
	*bench
	talk  []assay.Coordinates
	waits bool // a verdict that it asked for may still come
}

// Findings are never asked for item by item.
func (w *witness) Findings(string, string) ([]expr.Finding, error) { return nil, errNoFindings }

// Finding is never asked for item by item.
func (w *witness) Finding(string, string, string) (expr.Finding, error) {
	return expr.Finding{}, errNoFindings
}

// Verdict returns what a stage's jury, or one of its judges, says about the conversation.
func (w *witness) Verdict(stage, by string) (expr.Verdict, error) {
	none := expr.Verdict{State: string(assay.VerdictMissing), Judge: by}
	j, subject, ok := w.subject(stage, w.talk)
	if !ok {
		return none, nil
	}
	said := map[string][]assay.Verdict{}
	for _, at := range j.readings(subject, by) {
		v, given := w.verdicts[at.Key()]
		if !w.over[stage] && (!given || asksAgain(j.stage, v)) {
			w.waits = true
		}
		if !given {
			continue
		}
		said[at.Judge] = append(said[at.Judge], assay.Verdict{State: v.State, Label: v.Label, Score: v.Score, Why: v.Reason})
	}
	v, ok := j.say(said)
	if !ok {
		return none, nil
	}
	out := expr.Verdict{Label: v.Label, State: string(v.State), Judge: by}
	if v.Score != nil {
		out.Score = *v.Score
	}
	return out, nil
}

// readings returns the requests whose verdicts together are what a stage, or one of its judges, says about an answer.
func (j *judging) readings(subject assay.Coordinates, by string) []assay.Coordinates {
	var out []assay.Coordinates
	for _, name := range j.voices() {
		if by != "" && by != name {
			continue
		}
		for _, prompt := range j.rubric.names() {
			for vote := range j.votes {
				out = append(out, j.request(subject, prompt, name, vote))
			}
		}
	}
	if out == nil && by != "" { // a person, whom no stage waits for
		out = append(out, j.request(subject, j.rubric.only(), by, 0))
	}
	return out
}

// say makes one verdict of what the judges said: each judge's votes first, then the jury. The study's check makes sure
// that several judges are a jury where a condition asks what they say together.
func (j *judging) say(said map[string][]assay.Verdict) (assay.Verdict, bool) {
	var panel []assay.Verdict
	for _, name := range j.voices() {
		votes := said[name]
		delete(said, name)
		if reduce := judge.Reduce(j.stage.Repeats.Reduce); len(votes) > 1 && reduce != "" {
			votes = reduce.Of(votes)
		} else if len(votes) > 1 {
			votes = judge.Majority.Decide(votes)
		}
		panel = append(panel, votes...)
	}
	for _, rest := range said {
		panel = append(panel, rest...)
	}
	if jury := judge.Jury(j.stage.Jury); len(panel) > 1 && jury != judge.Each && jury != "" {
		panel = jury.Decide(panel)
	}
	if len(panel) == 0 {
		return assay.Verdict{}, false
	}
	return panel[0], true
}

// latestFirst returns a conversation from its end.
func latestFirst(talk []assay.Coordinates) []assay.Coordinates {
	out := slices.Clone(talk)
	slices.Reverse(out)
	return out
}
