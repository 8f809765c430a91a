package waves

import (
	"bytes"
	"context"
	"strings"

	"assay"
	"assay/analysis"
	"assay/pairs"
	"assay/store"
)

// about is what a verdict is about, whichever way round a pair was shown.
type about struct {
	low, high assay.Key
	trait     string
}

func aboutOf(v *store.Verdict) about {
	a := about{v.Subject, v.Against, v.Trait}
	if v.Against != (assay.Key{}) && bytes.Compare(a.low[:], a.high[:]) > 0 {
		a.low, a.high = a.high, a.low
	}
	return a
}

// marks is what was said about the tasks of a stage so far. Of pairs, only what people said is kept.
type marks map[about]markOf

type markOf struct {
	judged, flagged, done bool
	forward, turned       int
}

// marks reads the verdicts of the stage once, as one person sees them.
func (p *People) marks(ctx context.Context, person string) (marks, error) {
	out, r := marks{}, p.Rubric()
	_, single := p.rec.(*judging)
	for v, err := range p.Ledger.Verdicts(ctx, p.run.No, p.stage) {
		if err != nil {
			return nil, err
		}
		human := strings.HasPrefix(v.At.Judge, PersonPrefix)
		if !human && (!single || v.State != store.VerdictValid) {
			continue
		}
		m := out[aboutOf(&v)]
		switch {
		case !human:
			m.judged, m.flagged = true, m.flagged || r.Flags(v.Score)
		case v.Direction == string(assay.Reverse):
			m.turned++
		default:
			m.forward++
		}
		m.done = m.done || v.At.Judge == person
		out[aboutOf(&v)] = m
	}
	return out, nil
}

// mark writes what is known of a task into it.
func (m marks) mark(p *People, t *analysis.Task) error {
	v := store.Verdict{At: t.At}
	if err := p.aim(&v); err != nil {
		return err
	}
	seen := m[aboutOf(&v)]
	t.Judged, t.Flagged, t.Done, t.Forward, t.Turned = seen.judged, seen.flagged, seen.done, seen.forward, seen.turned
	return nil
}

// Label writes a person's verdict. One that the same person gave before on the same task, either way round, is withdrawn.
func (p *People) Label(ctx context.Context, v store.Verdict) error {
	if _, err := p.Withdraw(ctx, v); err != nil {
		return err
	}
	_, err := p.Ledger.AddVerdicts(ctx, []store.Verdict{v})
	return err
}

// Withdraw takes back what a person said about the same task; it tells how many verdicts that were.
func (p *People) Withdraw(ctx context.Context, v store.Verdict) (int64, error) {
	at := v.At
	keys := []assay.Key{at.Key()}
	if v.Against != (assay.Key{}) {
		other, err := p.turned(at)
		if err != nil {
			return 0, err
		}
		keys = append(keys, other.Key())
	}
	return p.Ledger.Withdraw(ctx, p.run.No, keys)
}

// turned is the same label on the same pair, shown the other way round.
func (p *People) turned(at assay.Coordinates) (assay.Coordinates, error) {
	switch rec := p.rec.(type) {
	case *laneContest:
		a, b, err := rec.sides(at)
		at.Pair = pairs.ID(b.Lane, a.Lane)
		return at, err
	case *itemContest:
		second, err := rec.against(at)
		first := at.Item
		at.Item, at.Branch, at.Pair = second.ID, joined(first), pairs.ID(second.ID, first)
		return at, err
	}
	return at, nil
}

// Named is a key that means a task, and the way round it means a pair.
type Named struct {
	Key  assay.Key
	Turn bool
}

// Names are the keys that a table of labels may call a task by: that of the judged answer, and those of every judge's
// request about it.
func (p *People) Names(t analysis.Task) ([]Named, error) {
	var out []Named
	switch rec := p.rec.(type) {
	case *judging:
		subject, _, err := rec.subject(t.At)
		if err != nil {
			return nil, err
		}
		out = append(out, Named{Key: subject.Key()}, Named{Key: rec.request(subject, "", "rule", 0).Key()})
		for _, l := range rec.chosen {
			for _, prompt := range rec.rubric.Prompts {
				for vote := range rec.votes {
					out = append(out, Named{Key: rec.request(subject, prompt.Name, l.Name, vote).Key()})
				}
			}
		}
		return out, nil
	case *laneContest:
		return p.contestNames(&rec.contest, t)
	case *itemContest:
		return p.contestNames(&rec.contest, t)
	}
	return nil, nil
}

func (p *People) contestNames(c *contest, t analysis.Task) ([]Named, error) {
	template, _, trait, err := c.variant(t.At)
	if err != nil {
		return nil, err
	}
	var out []Named
	for _, turn := range []bool{false, true} {
		t.Turn = turn
		at := p.place(&t)
		for _, l := range c.chosen {
			at.Judge = l.Name
			for _, prompt := range c.rubric.Prompts {
				at.Template = joined(template, prompt.Name, trait.ID)
				for vote := range c.votes {
					named := at
					named.Draw += vote * drawStride
					out = append(out, Named{named.Key(), turn})
				}
			}
		}
	}
	return out, nil
}
