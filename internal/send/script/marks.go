package script

import (
	"bytes"
	"context"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
)

// about is what a verdict is about, whichever way round a pair was shown.
type about struct {
	low, high assay.Key
	trait     string
}

func aboutOf(v *store.Verdict) about {
	a := about{v.Subject, v.Against, v.At.Trait}
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
	for v, err := range p.Reader.Verdicts(ctx, p.run.No, p.stage) {
		if err != nil {
			return nil, err
		}
		human := strings.HasPrefix(v.At.Judge, PersonPrefix)
		if !human && (!single || v.State != assay.VerdictValid) {
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

// Label writes a person's verdict on what was shown. One that the same person gave before on the same task, either way round, is
// withdrawn.
func (p *People) Label(ctx context.Context, v store.Verdict) error {
	return p.Runs.Label(ctx, v, sameTask(v))
}

// Withdraw takes back what a person said about the same task; it returns how many verdicts that were.
func (p *People) Withdraw(ctx context.Context, v store.Verdict) (int64, error) {
	return p.Runs.Withdraw(ctx, p.run.No, sameTask(v))
}

// sameTask returns the keys under which a person's verdict on a task may stand, either way round.
func sameTask(v store.Verdict) []assay.Key {
	keys := []assay.Key{v.At.Key()}
	if v.Against != (assay.Key{}) {
		keys = append(keys, turned(v.At).Key())
	}
	return keys
}

// turned returns the same label on the same pair, shown the other way round.
func turned(at assay.Coordinates) assay.Coordinates {
	if at.Lane != "" {
		at.Lane, at.Against = at.Against, at.Lane
	} else {
		at.Item, at.Against = at.Against, at.Item
	}
	return at
}

// Named is a key that means a task, and the way round it means a pair.
type Named struct {
	Key  assay.Key
	Turn bool
}

// Names returns the keys that a table of labels may call a task by: that of the judged answer, and those of every judge's
// request about it.
func (p *People) Names(t analysis.Task) ([]Named, error) {
	var out []Named
	switch rec := p.rec.(type) {
	case *judging:
		subject := t.At.Subject()
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
		return contestNames(&rec.contest, t), nil
	case *itemContest:
		return contestNames(&rec.contest, t), nil
	}
	return nil, nil
}

func contestNames(c *contest, t analysis.Task) []Named {
	var out []Named
	for _, turn := range []bool{false, true} {
		t.Turn = turn
		at := place(&t)
		for _, l := range c.chosen {
			at.Judge = l.Name
			for _, prompt := range c.rubric.Prompts {
				for vote := range c.votes {
					at.Prompt, at.Vote = prompt.Name, vote
					out = append(out, Named{at.Key(), turn})
				}
			}
		}
	}
	return out
}
