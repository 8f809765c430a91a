// Package conditions decides which requests of a run are asked: by the conditions of its study, by what people ordered to be asked
// again, and by the comparisons that were bought so far.
package conditions

import (
	"context"
	"fmt"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/send/script/again"
	"assay/internal/send/script/stages"
	"assay/internal/study/expr"
)

// Decision is the outcome of the conditions of a study for one request.
type Decision uint8

// What is decided.
const (
	Undecided Decision = iota // what a condition asks for is not there yet
	Kept
	Dropped
)

// Conditions are the conditions of a run, with what was decided so far. They are safe for concurrent use.
type Conditions struct {
	run    int64
	stages *stages.Stages
	reader *read.Reader
	runs   *runs.Store

	mu      sync.Mutex
	closed  map[string]bool // stages whose verdicts are all there
	decided map[gate]Decision
}

// New returns the conditions of a run with all that was decided and bought before.
func New(ctx context.Context, run int64, s *stages.Stages, r *read.Reader, w *runs.Store) (*Conditions, error) {
	c := &Conditions{run: run, stages: s, reader: r, runs: w, closed: map[string]bool{}, decided: map[gate]Decision{}}
	for d, err := range r.Decisions(ctx, run) {
		if err != nil {
			return nil, err
		}
		c.note(d)
	}
	return c, TakeLooks(ctx, r, run, s)
}

// Decide decides about the requests of a block; nil: all are kept.
func (c *Conditions) Decide(ctx context.Context, rec stages.Stage, asked []stages.Wanted) ([]Decision, error) {
	if !rec.Conditional() || len(asked) == 0 {
		return nil, nil
	}
	all := make([][]stages.Condition, len(asked))
	// Which stages are closed is noted before the verdicts are read: a stage that closes in between has some we do not see.
	b := &block{Conditions: c, closed: c.closedNow()}
	for i, w := range asked {
		conditions, err := rec.Conditions(w.Item, w.At)
		if err != nil {
			return nil, err
		}
		all[i] = conditions
		for _, t := range conditions {
			b.want(t)
		}
		if w.At.Again > 0 {
			b.keys = append(b.keys, again.FirstTry(w.At).Key())
		}
	}
	var err error
	if b.verdicts, err = c.reader.VerdictsAt(ctx, c.run, b.keys); err != nil {
		return nil, err
	}
	if err := b.readSent(ctx, asked); err != nil {
		return nil, err
	}
	out := make([]Decision, len(asked))
	for i, w := range asked {
		if out[i], err = b.decide(w, all[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Keep returns the requests of a block that are kept. It is false where something is undecided.
func (c *Conditions) Keep(ctx context.Context, rec stages.Stage, asked []stages.Wanted) (kept []stages.Wanted, certain bool, err error) {
	decisions, err := c.Decide(ctx, rec, asked)
	if err != nil || decisions == nil {
		return asked, true, err
	}
	certain = true
	for i, w := range asked {
		certain = certain && decisions[i] != Undecided
		if decisions[i] == Kept {
			kept = append(kept, w)
		}
	}
	return kept, certain, nil
}

// Possible returns the requests of a block that are not dropped.
func (c *Conditions) Possible(ctx context.Context, rec stages.Stage, asked []stages.Wanted) ([]stages.Wanted, error) {
	decisions, err := c.Decide(ctx, rec, asked)
	if err != nil || decisions == nil {
		return asked, err
	}
	var out []stages.Wanted
	for i, w := range asked {
		if decisions[i] != Dropped {
			out = append(out, w)
		}
	}
	return out, nil
}

// block has the verdicts that decide about a block of requests.
type block struct {
	*Conditions
	keys     []assay.Key
	verdicts map[assay.Key]store.Verdict
	sent     map[assay.Key]store.Answer // of requests of judges that further tries depend on
	closed   map[string]bool            // stages that were closed before the verdicts were read
}

// want notes the verdicts that a condition looks at.
func (b *block) want(t stages.Condition) {
	if !stages.AsksVerdicts(t.Stage) {
		return
	}
	for _, ref := range t.Stage.Keep.Stages() {
		for _, conversation := range t.Conversations {
			if j, subject, ok := b.subject(ref.Stage, conversation); ok {
				for _, at := range j.Readings(subject, ref.Judge) {
					b.keys = append(b.keys, at.Key())
				}
			}
		}
	}
}

// subject returns the latest answer of a conversation that a stage judges.
func (b *block) subject(stage string, conversation []assay.Coordinates) (*stages.Judge, assay.Coordinates, bool) {
	rec, _ := b.stages.Of(stage)
	j, ok := rec.(*stages.Judge)
	if !ok {
		return nil, assay.Coordinates{}, false
	}
	for _, at := range conversation {
		if j.Reads(at.Stage, at.Lane, at.Turn) {
			return j, at, true
		}
	}
	return nil, assay.Coordinates{}, false
}

func (b *block) decide(w stages.Wanted, conditions []stages.Condition) (Decision, error) {
	out := Kept
	for _, t := range conditions {
		f, err := b.try(t)
		if err != nil {
			return Undecided, fmt.Errorf("item %q in stage %s: %w", w.Item.ID, w.At.Stage, err)
		}
		if f == Dropped {
			return Dropped, nil
		}
		out = min(out, f)
	}
	if w.At.Again == again.FirstAsked || out != Kept {
		return out, nil
	}
	return b.tried(w.At), nil
}

// try decides one condition. A gate comes before the verdicts.
func (b *block) try(t stages.Condition) (Decision, error) {
	if f := b.Gate(t.Stage, t.Lane); f != Kept {
		return f, nil
	}
	if !stages.AsksVerdicts(t.Stage) {
		return Kept, nil
	}
	found := map[Decision]int{}
	for _, conversation := range t.Conversations {
		w := &witness{block: b, conversation: conversation}
		ok, err := t.Stage.Keep.Bool(expr.Vars{Item: t.Item, Source: w})
		switch {
		case err != nil:
			return Undecided, err
		case w.waits:
			found[Undecided]++
		case ok:
			found[Kept]++
		default:
			found[Dropped]++
		}
	}
	switch {
	case t.All && found[Dropped] > 0, !t.All && found[Kept]+found[Undecided] == 0:
		return Dropped, nil
	case t.All && found[Undecided] > 0, !t.All && found[Kept] == 0:
		return Undecided, nil
	}
	return Kept, nil
}

// witness answers what a condition asks about one conversation.
type witness struct {
	*block
	conversation []assay.Coordinates
	waits        bool // a verdict that it asked for may still come
}

// Findings are never asked for item by item.
func (w *witness) Findings(string, string) ([]expr.Finding, error) { return nil, errNoFindings }

// Finding is never asked for item by item.
func (w *witness) Finding(string, string, string) (expr.Finding, error) {
	return expr.Finding{}, errNoFindings
}

// Verdict returns the verdict of a stage's jury, or of one of its judges, on the conversation.
func (w *witness) Verdict(stage, by string) (expr.Verdict, error) {
	none := expr.Verdict{State: string(assay.VerdictMissing), Judge: by}
	j, subject, ok := w.subject(stage, w.conversation)
	if !ok {
		return none, nil
	}
	given := map[string][]assay.Verdict{}
	for _, at := range j.Readings(subject, by) {
		v, there := w.verdicts[at.Key()]
		if !w.closed[stage] && (!there || again.MayFollow(j.Stage(), v)) {
			w.waits = true
		}
		if !there {
			continue
		}
		given[at.Judge] = append(given[at.Judge], assay.Verdict{State: v.State, Label: v.Label, Score: v.Score, Why: v.Reason})
	}
	v, ok := j.Decide(given)
	if !ok {
		return none, nil
	}
	out := expr.Verdict{Label: v.Label, State: string(v.State), Judge: by}
	if v.Score != nil {
		out.Score = *v.Score
	}
	return out, nil
}

// tried decides about a further try by the verdict before it: one that was made stays, and one is made where the verdict before it is
// not what was asked for.
func (b *block) tried(at assay.Coordinates) Decision {
	v, ok := b.verdicts[again.FirstTry(at).Key()]
	switch {
	case !ok && !b.closed[at.Stage]:
		return Undecided
	case !ok:
		return Dropped
	case v.Again == at.Again:
		return Kept
	case v.Again > at.Again:
		if _, sent := b.sent[at.Key()]; sent {
			return Kept
		}
		return Dropped
	case b.stages.Orders.Try(at.Again).Asks(v, b.sent):
		return Kept
	}
	return Dropped
}

// readSent reads what the further tries of a block depend on besides the verdicts: whether they were made, and how a judge that gave
// no verdict ended.
func (b *block) readSent(ctx context.Context, asked []stages.Wanted) error {
	var refs []assay.Ref
	for _, w := range asked {
		if w.At.Again == again.FirstAsked {
			continue
		}
		v, ok := b.verdicts[again.FirstTry(w.At).Key()]
		switch {
		case !ok:
		case v.Again > w.At.Again:
			refs = append(refs, w.At.Ref())
		case v.State == assay.VerdictFailed && v.Segment != 0:
			refs = append(refs, again.GivenBy(v).Ref())
		}
	}
	if len(refs) == 0 {
		return nil
	}
	var err error
	b.sent, err = b.reader.AnswersTo(ctx, b.run, refs)
	return err
}
