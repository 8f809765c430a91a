package labels

import (
	"cmp"
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/script/people"
)

// Pickable is an answer that a person may label where it is read, under its lane's name. Such a label is shown as the person's and
// corrects nothing.
type Pickable struct {
	Stage   string
	Key     assay.Key // of the answer
	Item    string
	Lane    string
	Choices []PickChoice // none: the person has judged it blind
	task    analysis.Task
}

// PickChoice is a label that a person may pick.
type PickChoice struct {
	Key  string
	Text string
	On   bool // the person picked it
}

// Pickable returns the answers to items that a person may label; none where the stage compares answers, or has no choices.
func (p *Panel) Pickable(ctx context.Context, r *read.Reader, items []assay.Item, person string) ([]Pickable, error) {
	if p.Pairs() || p.choices == nil {
		return nil, nil
	}
	var out []Pickable
	var keys []assay.Key
	for _, it := range items {
		for _, t := range p.People.OnItem(it) {
			v, err := p.People.Verdict(t, people.Prefix+"anyone", assay.Verdict{})
			if err != nil {
				return nil, err
			}
			out = append(out, Pickable{Stage: p.People.Name, Key: v.Subject, Item: t.At.Item, Lane: t.At.Lane, task: t})
			keys = append(keys, v.Subject)
		}
	}
	said, err := r.VerdictsOn(ctx, p.People.Run.No, keys)
	if err != nil {
		return nil, err
	}
	for i := range out {
		mine := ownOf(said[out[i].Key], out[i].Stage, person)
		if mine != nil && !people.Picked(mine) {
			continue
		}
		for _, c := range p.choices {
			if !c.Quiet {
				out[i].Choices = append(out[i].Choices, PickChoice{c.Key, c.name(), mine != nil && c.is(mine)})
			}
		}
	}
	return out, nil
}

// ownOf returns the label of a person among verdicts on an answer; nil: there is none.
func ownOf(all []store.Verdict, stage, person string) *store.Verdict {
	for i := range all {
		if all[i].At.Stage == stage && all[i].At.Judge == person {
			return &all[i]
		}
	}
	return nil
}

// name returns a choice in a word.
func (c Choice) name() string {
	if c.said.Score != nil && c.said.Label == "" {
		return fmt.Sprint(*c.said.Score)
	}
	return cmp.Or(c.said.Label, c.Key)
}

// is reports whether a verdict is this choice.
func (c Choice) is(v *store.Verdict) bool {
	return v.State == assay.VerdictValid && (judge.Given{}) != c.said && c.name() == people.Word(v)
}

// Pick stores the label that a person picked for an answer; the same one again takes it back.
func (p *Panel) Pick(ctx context.Context, r *read.Reader, it assay.Item, answer assay.Key, person, choice string) error {
	all, err := p.Pickable(ctx, r, []assay.Item{it}, person)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Key != answer {
			continue
		}
		if len(a.Choices) == 0 {
			return results.NewMistake("", "you have judged this answer blind, and that label stays")
		}
		for _, c := range a.Choices {
			if c.Key == choice && c.On {
				return p.Withdraw(ctx, a.task, person)
			}
		}
		a.task.Chosen = analysis.ChosenPicked
		return p.Say(ctx, a.task, person, choice)
	}
	return results.NewMistake("", "stage %s has no such answer", p.People.Name)
}
