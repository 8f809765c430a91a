package script

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/judge"
	"assay/internal/keep/store"
)

// PersonPrefix begins the name of every judge who is a person.
const PersonPrefix = "human:"

// People is a judge or compare stage as people judge it: what they may be asked, what they are shown, and what their label
// is written as. No stage waits for them.
type People struct {
	*Script
	rec   stage
	stage string
}

// People opens a stage of a run for people.
func (p *Library) People(ctx context.Context, run store.Run, stage string) (*People, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := s.recallLooks(ctx); err != nil {
		return nil, err
	}
	switch rec := s.stages[stage].(type) {
	case *judging, *laneContest, *itemContest:
		return &People{s, rec, stage}, nil
	}
	return nil, fmt.Errorf("stage %q of run %s neither judges nor compares", stage, run.ID)
}

// Rubric returns what people judge by.
func (p *People) Rubric() judge.Rubric {
	switch rec := p.rec.(type) {
	case *judging:
		return rec.rubric.Rubric
	case *laneContest:
		return rec.rubric.Rubric
	case *itemContest:
		return rec.rubric.Rubric
	}
	return judge.Rubric{}
}

// Next returns the tasks that come next for a person.
func (p *People) Next(ctx context.Context, q analysis.Queue) ([]analysis.Task, error) {
	seen, err := p.marks(ctx, q.Person)
	if err != nil {
		return nil, err
	}
	return q.Choose(func(yield func(analysis.Task, error) bool) {
		for t, err := range p.Tasks(ctx) {
			if err == nil {
				err = seen.mark(p, &t)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	})
}

// Tasks walks over everything that the stage is about, each pair once, whether it is answered or not.
func (p *People) Tasks(ctx context.Context) iter.Seq2[analysis.Task, error] {
	return func(yield func(analysis.Task, error) bool) {
		ord := int64(-1)
		for it, err := range p.input.Rows.Items(ctx, p.rec.items()) {
			if err != nil {
				yield(analysis.Task{}, err)
				return
			}
			ord++
			for turn := 1; turn <= p.rec.turns(); turn++ {
				for _, t := range p.tasksOf(it, ord, turn) {
					if !yield(t, nil) {
						return
					}
				}
			}
		}
	}
}

// Unlabelled walks over what the stage is about and no person has said anything of; over nothing where the run leaves the stage out.
func (p *People) Unlabelled(ctx context.Context) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		if !p.settings.Wants(p.stage) {
			return
		}
		seen, err := p.marks(ctx, "")
		if err == nil {
			err = p.rereads(ctx)
		}
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		ord := int64(-1)
		for it, err := range p.input.Rows.Items(ctx, p.rec.items()) {
			ord++
			var open []wanted
			if err == nil {
				open, err = p.unlabelled(it, ord, seen)
			}
			if err != nil {
				yield(assay.Coordinates{}, err)
				return
			}
			if !p.expect(ctx, p.rec, open, yield) {
				return
			}
		}
	}
}

func (p *People) unlabelled(it assay.Item, ord int64, seen marks) ([]wanted, error) {
	var out []wanted
	for turn := 1; turn <= p.rec.turns(); turn++ {
		for _, t := range p.tasksOf(it, ord, turn) {
			if err := seen.mark(p, &t); err != nil {
				return nil, err
			}
			if t.Forward+t.Turned == 0 {
				out = append(out, wanted{it, t.At})
			}
		}
	}
	return out, nil
}

func (p *People) tasksOf(it assay.Item, ord int64, turn int) []analysis.Task {
	var out []analysis.Task
	switch rec := p.rec.(type) {
	case *judging:
		for _, subject := range rec.subjects(it, turn) {
			at := rec.request(subject, rec.rubric.forPeople(), "", 0)
			out = append(out, analysis.Task{ID: at.Key(), At: at})
		}
	case *laneContest:
		if turn != rec.turn {
			return nil
		}
		for i, w := range rec.source.talk.AllWays(turn-1, it) {
			for pair := range rec.meetings(ord, i) {
				if pair.Again {
					continue
				}
				first, second := ordered(rec.contestants[pair.First].Name, rec.contestants[pair.Second].Name)
				at := assay.Coordinates{
					Stage: p.stage, Source: rec.source.talk.Stage.Name, Item: it.ID, Lane: first, Against: second,
					Template: w.Template, Turn: turn, Branch: w.Branch(), Draw: w.Draw,
				}
				out = append(out, rec.tasks(at, first+"\x00"+second)...)
			}
		}
	case *itemContest:
		for _, pair := range rec.meetings(ord) {
			if !pair.Again {
				first, second := ordered(it.ID, rec.all[pair.Second].ID)
				at := assay.Coordinates{Stage: p.stage, Item: first, Against: second, Turn: 1, Draw: 1}
				out = append(out, rec.tasks(at, "")...)
			}
		}
	}
	return out
}

func ordered(a, b string) (first, second string) { return min(a, b), max(a, b) }

// forPeople returns the prompt that a label is filed under: the only one, else none, for people read no prompt.
func (r *rubric) forPeople() string {
	if len(r.Prompts) == 1 {
		return r.only()
	}
	return ""
}

// tasks returns one pair under every trait.
func (c *contest) tasks(at assay.Coordinates, group string) []analysis.Task {
	var out []analysis.Task
	first, second := at.Pair()
	for _, trait := range c.traits {
		at.Prompt, at.Trait = c.rubric.forPeople(), trait.ID
		out = append(out, analysis.Task{ID: at.Key(), At: at, First: first, Second: second, Group: group})
	}
	return out
}

// place returns where a person's label on a task, as it is shown, belongs.
func place(t *analysis.Task) assay.Coordinates {
	if t.Turn && t.At.Paired() {
		return turned(t.At)
	}
	return t.At
}

// Verdict returns what a person says about a task, ready for the ledger. For a pair, label a is the one shown first.
func (p *People) Verdict(t analysis.Task, person string, said assay.Verdict) (store.Verdict, error) {
	if !strings.HasPrefix(person, PersonPrefix) || person == PersonPrefix {
		return store.Verdict{}, fmt.Errorf("%q is no person: want %sNAME", person, PersonPrefix)
	}
	v := store.Verdict{Run: p.run.No, At: place(&t)}
	v.At.Judge = person
	v.State, v.Label, v.Score, v.Reason = said.State, said.Label, said.Score, firstNonEmpty(said.Why, said.Explanation)
	fields, err := json.Marshal(personal{Chosen: t.Chosen, Confidence: said.Confidence})
	if err != nil {
		return v, err
	}
	v.Fields = string(fields)
	return v, p.aim(&v)
}

// personal is what is kept beside a person's label.
type personal struct {
	Chosen     analysis.Chosen `json:"chosen,omitempty"`
	Confidence *float64        `json:"confidence,omitempty"`
}

// ChosenAs returns why a person was asked for a label; empty: it is not known.
func ChosenAs(v *store.Verdict) analysis.Chosen {
	var p personal
	if v.Fields == "" || json.Unmarshal([]byte(v.Fields), &p) != nil {
		return ""
	}
	return p.Chosen
}

// aim fills in which answers a verdict is about.
func (p *People) aim(v *store.Verdict) error {
	rec, ok := p.rec.(reader)
	if !ok {
		return fmt.Errorf("stage %q of run %s neither judges nor compares", p.stage, p.run.ID)
	}
	about, err := rec.frame(v.At)
	v.Subject, v.Against, v.Direction = about.Subject, about.Against, about.Direction
	return err
}
