package script

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// What a judge said in vain may be asked again: of the same judge after a malformed verdict (second_try), of another lane in its place
// (fallback), and of the judge once more for every retry that a person orders after the run. Each is a request of its own, in a group
// of its own. Its verdict takes the place of the one before.

// How often the same was asked before, by what it is asked again for.
const (
	firstAsked = iota
	secondTry
	fallbackTry
	firstRetry // and so on: the retries of a run
)

// Round is a retry of verdicts that a person ordered: which of them are asked for again.
type Round struct {
	Verdicts []string `json:"verdicts"`
}

// What a retry of verdicts may ask for again.
const (
	RetryMalformed = "malformed" // nothing could be read from the reply
	RetryRefused   = "refused"   // the judge, or the provider's filter, declined
)

// Retriable lists them.
func Retriable() []string { return []string{RetryMalformed, RetryRefused} }

// triesOf lists the ways in which a judge may be asked the same, in the order they are taken.
func triesOf(st *study.Stage, r *rubric, d *redone) []int {
	out := []int{firstAsked}
	if silent(r) {
		return out
	}
	if st.SecondTry != nil && *st.SecondTry {
		out = append(out, secondTry)
	}
	if st.Fallback != "" {
		out = append(out, fallbackTry)
	}
	for i := range d.retries() {
		out = append(out, firstRetry+i)
	}
	return out
}

// standIns returns the lanes that are asked in the place of a stage's judges: none, or one.
func (s *Script) standIns(st *study.Stage) []*study.Lane {
	if st.Fallback == "" {
		return nil
	}
	return s.input.Study.LanesNamed([]string{st.Fallback})
}

// makes reports whether a lane of a stage makes a try.
func makes(rec stage, lane string, try int) bool {
	r, ok := rec.(reader)
	return !ok || slices.Contains(r.voices(), lane) != (try == fallbackTry)
}

// groupsOf lists the groups of a lane in a stage, in the order they go out: every turn, then the further tries of every turn.
func groupsOf(rec stage, name, lane string) []store.GroupKey {
	var out []store.GroupKey
	for _, try := range rec.tries() {
		for turn := 1; turn <= rec.turns() && makes(rec, lane, try); turn++ {
			out = append(out, store.GroupKey{Stage: name, Lane: lane, Turn: turn, Again: try})
		}
	}
	return out
}

// requests lists the requests about one item that belong to a group.
func requests(rec stage, it assay.Item, ord int64, g store.GroupKey) []assay.Coordinates {
	judges, by := []string{g.Lane}, ""
	if r, ok := rec.(reader); ok && g.Again == fallbackTry {
		judges, by = r.voices(), g.Lane
	}
	var out []assay.Coordinates
	for _, name := range judges {
		out = append(out, rec.at(it, ord, name, g.Turn)...)
	}
	for i := range out {
		out[i].Again, out[i].By = g.Again, by
	}
	return out
}

// before lists the groups that have to be settled before nothing more can join a group.
func before(rec stage, g store.GroupKey) []store.GroupKey {
	if g.Again == firstAsked {
		return rec.after(g.Lane, g.Turn)
	}
	var out []store.GroupKey
	for _, l := range rec.lanes() {
		for _, try := range rec.tries() {
			if try < g.Again && makes(rec, l.Name, try) {
				out = append(out, store.GroupKey{Stage: g.Stage, Lane: l.Name, Turn: g.Turn, Again: try})
			}
		}
	}
	return out
}

// firstTry returns the request that a further try repeats; of any other, itself.
func firstTry(at assay.Coordinates) assay.Coordinates {
	at.Again, at.By = firstAsked, ""
	return at
}

// asksAgain reports whether a verdict of a stage may still be replaced before the stage is closed: a further try of the study's is
// to come.
func asksAgain(st *study.Stage, v store.Verdict) bool {
	if v.Again != firstAsked || v.Segment == 0 {
		return false
	}
	second := st.SecondTry != nil && *st.SecondTry && judge.AskAgain(assay.Verdict{State: v.State}, 1)
	return second || st.Fallback != "" && (v.State == assay.VerdictMalformed || v.State == assay.VerdictFailed)
}

// tried decides about a further try by the verdict that stands: one that was made stays, and one is made where the verdict before it is
// not what was asked for.
func (b *bench) tried(at assay.Coordinates) fate {
	v, ok := b.verdicts[firstTry(at).Key()]
	switch {
	case !ok && !b.over[at.Stage]:
		return undecided
	case !ok:
		return dropped
	case v.Again == at.Again:
		return kept
	case v.Again > at.Again:
		if _, sent := b.sent[at.Key()]; sent {
			return kept
		}
		return dropped
	case b.redone.asks(at.Again, v, b.sent):
		return kept
	}
	return dropped
}

// sayer returns the request whose reply gave a verdict.
func sayer(v store.Verdict) assay.Coordinates {
	at := firstTry(v.At)
	at.Again, at.By = v.Again, v.By
	return at
}

// asks reports whether a try is made after a verdict. Whether a judge refused is known by the ending of its reply.
func (r *redone) asks(try int, v store.Verdict, sent map[assay.Key]store.Answer) bool {
	what := []string{RetryMalformed}
	switch {
	case v.Segment == 0:
		return false // no model gave it
	case try == fallbackTry:
		what = Retriable()
	case try >= firstRetry:
		what = r.round(try - firstRetry)
	}
	switch v.State {
	case assay.VerdictMalformed:
		return slices.Contains(what, RetryMalformed)
	case assay.VerdictFailed:
		a, ok := sent[sayer(v).Key()]
		return slices.Contains(what, RetryRefused) && ok && a.Ended && a.Outcome.Ending == assay.Refused
	}
	return false
}

// readSent reads what the further tries of a block depend on besides the verdicts: whether they were made, and how a judge that gave
// no verdict ended.
func (b *bench) readSent(ctx context.Context, block []wanted) error {
	var keys []assay.Key
	for _, w := range block {
		if w.at.Again == firstAsked {
			continue
		}
		v, ok := b.verdicts[firstTry(w.at).Key()]
		switch {
		case !ok:
		case v.Again > w.at.Again:
			keys = append(keys, w.at.Key())
		case v.State == assay.VerdictFailed && v.Segment != 0:
			keys = append(keys, sayer(v).Key())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	var err error
	b.sent, err = b.Reader.AnswersTo(ctx, b.run.No, keys)
	return err
}

// retries counts the retries of verdicts that were ordered.
func (r *redone) retries() int {
	if r == nil {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.rounds)
}

// round returns what the n-th retry asks for again.
func (r *redone) round(n int) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n >= len(r.rounds) {
		return nil
	}
	return r.rounds[n].Verdicts
}

// rounds reads the retries of verdicts that were ordered for a run.
func (p *Library) rounds(ctx context.Context, run int64) ([]Round, error) {
	orders, err := p.Reader.OrdersOf(ctx, run, store.OrderRetry)
	if err != nil {
		return nil, err
	}
	var out []Round
	for _, o := range orders {
		var r Round
		if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
			return nil, fmt.Errorf("order %d: %w", o.No, err)
		}
		if len(r.Verdicts) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// Retried counts the requests of a run that retries of verdicts added to its plan, by stage and judge.
func (p *Library) Retried(ctx context.Context, run store.Run) (map[store.Share]int64, error) {
	sent, err := p.Reader.SentByGroup(ctx, run.No)
	out := map[store.Share]int64{}
	for g, n := range sent {
		if g.Again >= firstRetry {
			out[store.Share{Stage: g.Stage, Lane: g.Lane}] += n
		}
	}
	return out, err
}

// Retries counts, by stage and judge, the verdicts of a run that a retry would ask for again, and all that stand as they are.
func (p *Library) Retries(ctx context.Context, run store.Run, what []string) (again []store.Share, kept int64, err error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	asked := &redone{rounds: []Round{{Verdicts: what}}}
	for _, st := range s.input.Study.Stages {
		rec, ok := s.stages[st.Name].(reader)
		if !ok || !s.settings.Wants(st.Name) {
			continue
		}
		by := map[string]int64{}
		for v, err := range p.Reader.Verdicts(ctx, run.No, st.Name) {
			var failed map[assay.Key]store.Answer
			if err == nil && v.State == assay.VerdictFailed && v.Segment != 0 {
				failed, err = p.Reader.AnswersTo(ctx, run.No, []assay.Key{sayer(v).Key()})
			}
			if err != nil {
				return nil, 0, err
			}
			switch {
			case asked.asks(firstRetry, v, failed) &&
				slices.ContainsFunc(rec.lanes(), func(l *study.Lane) bool { return l.Name == v.At.Judge }):
				by[v.At.Judge]++
			case v.State == assay.VerdictValid || v.State == assay.VerdictAbstained:
				kept++
			}
		}
		for _, name := range rec.voices() {
			if by[name] > 0 {
				again = append(again, store.Share{Stage: st.Name, Lane: name, Requests: by[name]})
			}
		}
	}
	return again, kept, nil
}

// What judges without a model are called among the judges.
const (
	byRule    = "rule"
	byProgram = "command"
)

// voices are who judges by a rubric.
func voices(r *rubric, lanes []*study.Lane) []string {
	switch {
	case r.Rule != nil:
		return []string{byRule}
	case len(r.Prompts) == 0:
		return []string{byProgram}
	}
	return names(lanes)
}

// silent reports whether verdicts come without requests.
func silent(r *rubric) bool { return len(r.Prompts) == 0 }

// counting returns a stage's rule for answers that are none.
func counting(st *study.Stage) judge.Counting {
	return judge.Counting{Refused: judge.CountAs(st.Count.Refused), Cut: judge.CountAs(st.Count.Cut)}
}
