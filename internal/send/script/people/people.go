// Package people is a judge or compare stage as people judge it: what they may be asked, what they are shown, and which verdict their
// label becomes. No stage waits for them.
package people

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/send/script/answers"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/stages"
)

// Prefix begins the name of every judge who is a person.
const Prefix = "human:"

// Alone reports whether a stage names judges, and all of them are people. A rule or a program judges where none is named.
func Alone(judges []string) bool {
	return len(judges) > 0 && !slices.ContainsFunc(judges, func(name string) bool { return !strings.HasPrefix(name, Prefix) })
}

// Stage is one stage of a run for people.
type Stage struct {
	Run        store.Run
	Name       string
	Asked      bool // the run has not left the stage out
	Judging    stages.Judging
	Stages     *stages.Stages
	Conditions *conditions.Conditions
	Answers    *answers.Reader
	Reader     *read.Reader
	Runs       *runs.Store
}

// Rubric returns what people judge by.
func (s *Stage) Rubric() judge.Rubric { return s.Judging.By().Rubric }

// Next returns the tasks that come next for a person.
func (s *Stage) Next(ctx context.Context, q analysis.Queue) ([]analysis.Task, error) {
	seen, err := s.tally(ctx, q.Person)
	if err != nil {
		return nil, err
	}
	if s.Drawable() && !(s.pairs() && (q.Balanced || q.Clear != nil)) {
		if tasks, err := s.drawn(ctx, q, seen); len(tasks) > 0 || err != nil {
			return tasks, err
		}
	}
	return q.Choose(func(yield func(analysis.Task, error) bool) {
		for t, err := range s.Tasks(ctx) {
			if err == nil {
				err = s.count(seen, &t)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	})
}

// Drawable reports whether people may be asked about items that are drawn: single answers, or lanes that all meet.
func (s *Stage) Drawable() bool {
	_, lanes := s.Judging.(*stages.LaneContest)
	return !s.pairs() || lanes && s.Stages.Rounds(s.Name) == nil
}

// pairs reports whether two answers are shown side by side.
func (s *Stage) pairs() bool { return s.Rubric().Kind == judge.Pairs }

// Tasks walks over everything that the stage is about, each pair once, whether it is answered or not. What was ordered again counts, too.
func (s *Stage) Tasks(ctx context.Context) iter.Seq2[analysis.Task, error] {
	return func(yield func(analysis.Task, error) bool) {
		if err := conditions.Refresh(ctx, s.Reader, s.Run.No, s.Stages); err != nil {
			yield(analysis.Task{}, err)
			return
		}
		for r, err := range s.Stages.Rows(ctx, s.Judging) {
			if err != nil {
				yield(analysis.Task{}, err)
				return
			}
			for _, t := range s.tasksOf(r) {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

func (s *Stage) tasksOf(r stages.Row) []analysis.Task {
	var out []analysis.Task
	for turn := 1; turn <= s.Judging.Turns(); turn++ {
		for _, t := range s.Judging.Tasks(r.Item, r.Ord, turn) {
			out = append(out, analysis.Task{ID: t.At.Key(), At: t.At, First: t.First, Second: t.Second, Group: t.Group})
		}
	}
	return out
}

// Unlabelled walks over what the stage is about and a person has not labelled, or with no name, no person; over nothing where the
// run leaves the stage out.
func (s *Stage) Unlabelled(ctx context.Context, person string) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		if !s.Asked {
			return
		}
		seen, err := s.tally(ctx, person)
		if err == nil {
			err = conditions.Refresh(ctx, s.Reader, s.Run.No, s.Stages)
		}
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		for r, err := range s.Stages.Rows(ctx, s.Judging) {
			var open []stages.Wanted
			if err == nil {
				open, err = s.unlabelled(ctx, r, seen, person)
			}
			if err != nil {
				yield(assay.Coordinates{}, err)
				return
			}
			for _, w := range open {
				if !yield(w.At, nil) {
					return
				}
			}
		}
	}
}

func (s *Stage) unlabelled(ctx context.Context, r stages.Row, seen tally, person string) ([]stages.Wanted, error) {
	var out []stages.Wanted
	for _, t := range s.tasksOf(r) {
		if err := s.count(seen, &t); err != nil {
			return nil, err
		}
		if !t.Done && (person != "" || t.Forward+t.Turned == 0) {
			out = append(out, stages.Wanted{Item: r.Item, At: t.At})
		}
	}
	return s.Conditions.Possible(ctx, s.Judging, out)
}

// Show gathers what a task is about; false where an answer is missing, or both have the same text.
func (s *Stage) Show(ctx context.Context, t analysis.Task) (stages.LabelSheet, bool, error) {
	at := place(&t)
	it, err := s.Reader.Item(ctx, s.Run.No, s.Judging.Items(), at.Item)
	if err != nil {
		return stages.LabelSheet{}, false, fmt.Errorf("item %q of run %s: %w", at.Item, s.Run.ID, err)
	}
	answered, err := s.Answers.For(ctx, s.Judging, []stages.Wanted{{Item: it, At: at}})
	if err != nil {
		return stages.LabelSheet{}, false, err
	}
	return s.Judging.Sheet(it, at, answered)
}

// place returns the coordinates of a person's label on a task, as it is shown.
func place(t *analysis.Task) assay.Coordinates {
	if t.Turn && t.At.Paired() {
		return stages.Turned(t.At)
	}
	return t.At
}

// Verdict returns a person's verdict on a task, ready for the ledger. For a pair, label a is the one shown first.
func (s *Stage) Verdict(t analysis.Task, person string, given assay.Verdict) (store.Verdict, error) {
	if !strings.HasPrefix(person, Prefix) || person == Prefix {
		return store.Verdict{}, fmt.Errorf("%q is no person: want %sNAME", person, Prefix)
	}
	v := store.Verdict{Run: s.Run.No, At: place(&t), State: given.State, Label: given.Label, Score: given.Score,
		Reason: cmp.Or(given.Why, given.Explanation)}
	v.At.Judge = person
	fields, err := json.Marshal(beside{Chosen: t.Chosen, Probability: t.Probability, Among: t.Among, Confidence: given.Confidence})
	if err != nil {
		return v, err
	}
	v.Fields = string(fields)
	return v, s.aim(&v)
}

// beside is kept beside a person's label.
type beside struct {
	Chosen      analysis.Chosen `json:"chosen,omitempty"`
	Probability float64         `json:"probability,omitempty"` // as its file declares
	Among       int             `json:"among,omitempty"`       // items that the stage had then
	Confidence  *float64        `json:"confidence,omitempty"`
	Earlier     bool            `json:"before_the_prompt_changed,omitempty"`
}

// ChosenAs returns why a person was asked for a label, empty where it is not known, and with which probability, as its file declares; 0
// where it does not.
func ChosenAs(v *store.Verdict) (chosen analysis.Chosen, probability float64) {
	b := besideOf(v)
	return b.Chosen, b.Probability
}

func besideOf(v *store.Verdict) (b beside) {
	if v.Fields == "" || json.Unmarshal([]byte(v.Fields), &b) != nil {
		return beside{}
	}
	return b
}

// Among returns how many items a stage had when a file declared the probability of a label; 0: that is not known.
func Among(v *store.Verdict) int { return besideOf(v).Among }

// Earlier reports whether a label was given before the judge's prompt changed: what may have led the change does not test it.
func Earlier(v *store.Verdict) bool { return besideOf(v).Earlier }

// Picked reports whether a person picked what to label, and saw whose it is. Such a label answers no question that was drawn.
func Picked(v *store.Verdict) bool {
	chosen, _ := ChosenAs(v)
	return chosen == analysis.ChosenPicked
}

// OnItem returns what the stage asks about the answers to an item; nothing where it is about pairs.
func (s *Stage) OnItem(it assay.Item) []analysis.Task {
	if s.pairs() {
		return nil
	}
	return s.tasksOf(stages.Row{Item: it})
}

// Foreign returns a verdict that was made elsewhere, ready for the ledger.
func (s *Stage) Foreign(f stages.Foreign) (store.Verdict, error) {
	v := store.Verdict{Run: s.Run.No, State: f.Verdict.State, Label: f.Verdict.Label, Score: f.Verdict.Score,
		Reason: cmp.Or(f.Verdict.Why, f.Verdict.Explanation), Fields: string(f.Verdict.Fields), Again: f.Again, By: f.By,
		Given: s.Run.Created}
	if v.State != assay.VerdictValid { // whatever stands beside it
		v.Label, v.Score = "", nil
	}
	var err error
	if v.At, err = s.Judging.Place(f); err != nil {
		return v, err
	}
	return v, s.aim(&v)
}

// aim fills in which answers a verdict is about.
func (s *Stage) aim(v *store.Verdict) error {
	about, err := s.Judging.Frame(v.At)
	v.Subject, v.Against, v.Direction = about.Subject, about.Against, about.Direction
	return err
}

// Label writes a person's verdict on what was shown. One that the same person gave before on the same task, either way round, is
// withdrawn.
func (s *Stage) Label(ctx context.Context, v store.Verdict) error {
	return s.Runs.Label(ctx, v, stages.SameTask(v))
}

// Withdraw takes back a person's label on a task; it returns how many verdicts that were.
func (s *Stage) Withdraw(ctx context.Context, v store.Verdict) (int64, error) {
	return s.Runs.Withdraw(ctx, s.Run.No, stages.SameTask(v))
}

// tally counts the verdicts on the tasks of a stage so far.
type tally map[store.Task]counts

type counts struct {
	judged, sum     float64 // valid verdicts of machines, and their values
	done, earlier   bool
	forward, turned int
}

// tally reads the verdicts of the stage once, as one person sees them.
func (s *Stage) tally(ctx context.Context, person string) (tally, error) {
	out, yes := tally{}, s.yes()
	for v, err := range s.Reader.Verdicts(ctx, s.Run.No, s.Name) {
		if err != nil {
			return nil, err
		}
		human := strings.HasPrefix(v.At.Judge, Prefix)
		if !human && v.State != assay.VerdictValid || human && Picked(&v) {
			continue // what a person picked is still to be asked, blind
		}
		c := out[v.Task()]
		switch {
		case !human:
			if value, ok := s.number(&v, yes); ok {
				c.judged, c.sum = c.judged+1, c.sum+value
			}
		case v.Direction == string(assay.Reverse):
			c.turned++
		default:
			c.forward++
		}
		c.done, c.earlier = c.done || v.At.Judge == person, c.earlier || human && Earlier(&v)
		out[v.Task()] = c
	}
	return out, nil
}

// Number returns a verdict as a number: yes is 1 and no is 0, or its score; of a pair, what the one has won whose name comes first.
func (s *Stage) Number(v *store.Verdict) (float64, bool) { return s.number(v, s.yes()) }

// number returns a verdict as a number; of a pair, what the one has won that is first when it is not turned.
func (s *Stage) number(v *store.Verdict, yes []string) (float64, bool) {
	if !s.pairs() {
		return gather.ValueOf(&analysis.Row{Label: v.Label, Score: v.Score}, yes, false)
	}
	result, ok := gather.ResultOf(v.Label)
	if won := result.Score(); v.Direction != string(assay.Reverse) {
		return won, ok
	}
	return 1 - result.Score(), ok
}

// count writes what is known of a task into it.
func (s *Stage) count(seen tally, t *analysis.Task) error {
	v := store.Verdict{At: t.At}
	if err := s.aim(&v); err != nil {
		return err
	}
	c := seen[v.Task()]
	if t.Judged = c.judged > 0; t.Judged {
		t.Mean = c.sum / c.judged
	}
	t.Done, t.Earlier, t.Forward, t.Turned = c.done, c.earlier, c.forward, c.turned
	return nil
}
