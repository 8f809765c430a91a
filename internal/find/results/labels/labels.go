// Package labels holds people's labels of the answers of a run: tables of labels, the tasks that they are shown, and
// how far they are.
package labels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
)

// Labelled is a label and what it is in the ledger.
type Labelled struct {
	people  *people.Stage
	Verdict store.Verdict
}

// Match finds what each label of a stage is about. What is unknown, or means several answers, is a problem.
func Match(ctx context.Context, r *results.Reader, run store.Run, people *people.Stage, rows []*Label,
	problems *assay.Problems) ([]Labelled, error) {
	byKey, byItem, anywhere := indexed(rows)
	items := map[string]bool{}
	for t, err := range people.Tasks(ctx) {
		if err != nil {
			return nil, err
		}
		items[t.At.Item] = true
		if len(byKey) > 0 {
			for _, n := range people.Judging.Names(t.At) {
				for _, r := range byKey[n.Key] {
					r.take(t, n.Turn)
				}
			}
		}
		if len(byItem[t.At.Item]) == 0 && len(anywhere) == 0 {
			continue
		}
		of := script.ReadingOf(t.At)
		for _, r := range slices.Concat(byItem[t.At.Item], anywhere) {
			if turn, ok := r.means(t, of); ok {
				r.take(t, turn)
			}
		}
	}
	var out []Labelled
	for _, r := range rows {
		r.task.Among = len(items)
		if v, ok := r.settle(people, problems); ok {
			out = append(out, Labelled{people, v})
		}
	}
	return out, nil
}

// indexed finds rows by key or item; those that compare items with each other may be met anywhere.
func indexed(rows []*Label) (byKey map[assay.Key][]*Label, byItem map[string][]*Label, anywhere []*Label) {
	byKey, byItem = map[assay.Key][]*Label{}, map[string][]*Label{}
	for _, r := range rows {
		switch {
		case r.key != nil:
			byKey[*r.key] = append(byKey[*r.key], r)
		case r.item != "":
			byItem[r.item] = append(byItem[r.item], r)
		default:
			anywhere = append(anywhere, r)
		}
	}
	return byKey, byItem, anywhere
}

// take notes that a row means a task.
func (r *Label) take(t analysis.Task, turn bool) {
	if r.found > 0 && r.task.ID == t.ID {
		return // the same under another name
	}
	r.found++
	t.Turn = turn
	r.task = t
}

// means reports whether the coordinates that a row gives are those of a task, and which way round.
func (r *Label) means(t analysis.Task, of script.Reading) (turn, ok bool) {
	is := func(want *string, got string) bool { return want == nil || *want == got }
	if of.Second == "" {
		ok = r.lane != "" && r.lane == t.At.Lane && is(r.branch, t.At.Branch)
	} else {
		turn = r.a == of.Second
		ok = r.a != r.b && (r.a == of.First && r.b == of.Second || r.a == of.Second && r.b == of.First)
		ok = ok && (of.Items || is(r.branch, t.At.Branch)) && is(r.trait, of.Trait)
	}
	number := func(want *int, got int) bool { return want == nil || *want == got }
	return turn, ok && is(r.template, of.Template) && number(r.turn, t.At.Turn) && number(r.draw, of.Draw)
}

// settle returns the verdict that a row gives.
func (r *Label) settle(people *people.Stage, problems *assay.Problems) (store.Verdict, bool) {
	switch {
	case r.found == 0:
		problems.Add(r.At, "assay results RUN --json lists the answers", "stage %s has nothing like this", r.Stage)
		return store.Verdict{}, false
	case r.found > 1:
		problems.Add(r.At, "say turn, branch, template, trait or draw too", "this may be about %d answers of stage %s", r.found, r.Stage)
		return store.Verdict{}, false
	}
	said, err := r.said(people.Rubric())
	if err == nil && said.State == assay.VerdictMalformed && r.state == "" {
		err = fmt.Errorf("%s", said.Why)
	}
	if err != nil {
		problems.Add(r.At, labelsOf(people.Rubric()), "%s", err)
		return store.Verdict{}, false
	}
	if r.probability != nil {
		r.task.Chosen, r.task.Probability = analysis.ChosenDeclared, *r.probability
	} else {
		r.task.Among = 0
	}
	v, err := people.Verdict(r.task, r.Judge, said)
	if err != nil {
		problems.Add(r.At, "", "%s", err)
	}
	return v, err == nil
}

// said returns the row's label under the rubric.
func (r *Label) said(rubric judge.Rubric) (assay.Verdict, error) {
	if r.state != "" && r.state != assay.VerdictValid {
		return assay.Verdict{State: r.state, Why: r.explanation}, nil
	}
	label := r.label
	if r.a != "" && label != assay.LabelA && label != assay.LabelB {
		switch label {
		case r.a:
			label = assay.LabelA
		case r.b:
			label = assay.LabelB
		}
	}
	if label == "" && r.score == nil {
		return assay.Verdict{}, errors.New("there is neither a label nor a score")
	}
	return rubric.Take(judge.Given{Label: label, Score: r.score, Explanation: r.explanation, Confidence: r.confidence}), nil
}

func labelsOf(r judge.Rubric) string {
	var names []string
	for _, l := range r.Labels {
		names = append(names, l.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return assay.ThereAre(names)
}

// Counts are how many labels were new, changed, or there already.
type Counts struct{ New, Changed, Same int }

// Write writes what is new or has changed.
func Write(ctx context.Context, r *results.Reader, run store.Run, all []Labelled) (Counts, error) {
	var n Counts
	there := map[assay.Key]store.Verdict{}
	for v, err := range r.Ledger.Verdicts(ctx, run.No, "") {
		if err != nil {
			return n, err
		}
		if strings.HasPrefix(v.At.Judge, people.Prefix) {
			there[v.At.Key()] = v
		}
	}
	for _, l := range all {
		before, known := there[l.Verdict.At.Key()]
		if known && sameSaid(before, l.Verdict) {
			n.Same++
			continue
		}
		taken, err := l.people.Withdraw(ctx, l.Verdict)
		if err != nil {
			return n, err
		}
		if _, err := l.people.Runs.AddVerdicts(ctx, []store.Verdict{l.Verdict}); err != nil {
			return n, err
		}
		if taken > 0 {
			n.Changed++
		} else {
			n.New++
		}
	}
	return n, nil
}

// sameSaid reports whether a label is as it was. One that was drawn here stays so, whatever a file declares.
func sameSaid(a, b store.Verdict) bool {
	chosen, was := people.ChosenAs(&a)
	_, is := people.ChosenAs(&b)
	if chosen != analysis.ChosenDrawn && (was != is || people.Among(&a) != people.Among(&b)) {
		return false
	}
	score := a.Score == nil && b.Score == nil || a.Score != nil && b.Score != nil && *a.Score == *b.Score
	return a.State == b.State && a.Label == b.Label && score && a.Reason == b.Reason
}
