package people

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
	"assay/internal/keep/store"
	"assay/internal/study/plan"
)

// drawPart is under which name, before that of the stage, the draw of a stage is kept with its run.
const drawPart = "draw/"

// portion is how many items are labelled at a time, their answers mixed.
const portion = 5

// secondPerson is of how many drawn items one is shown to a second person, too.
const secondPerson = 10

// Draw returns the items of the stage that people are asked about, as they were drawn; nil: nobody was asked yet.
func (s *Stage) Draw(ctx context.Context) (*analysis.Draw, error) {
	text, err := io.ReadAll(s.Reader.Part(ctx, s.Run.No, drawPart+s.Name))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what people are asked in stage %s: %w", s.Name, err)
	}
	var d analysis.Draw
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read what people are asked in stage %s: %w", s.Name, err)
	}
	return &d, nil
}

// drawn returns the tasks of the next items that were drawn. What was judged since the last time is added to the draw.
func (s *Stage) drawn(ctx context.Context, q analysis.Queue, seen tally) ([]analysis.Task, error) {
	items, err := s.byItem(ctx, seen)
	if err != nil {
		return nil, err
	}
	d, err := s.Draw(ctx)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = &analysis.Draw{Seed: checked.Hash(q.Seed, s.Run.Digest+" "+s.Name), Lanes: items.lanes(), YesNo: s.yes() != nil}
	}
	before := len(d.Items)
	if d.Add(items.judged(d), items.dealt(d)); len(d.Items) != before {
		if err := s.keep(ctx, d); err != nil {
			return nil, err
		}
	}
	return items.next(d, q), nil
}

func (s *Stage) keep(ctx context.Context, d *analysis.Draw) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.Runs.PutPart(ctx, s.Run.No, drawPart+s.Name, bytes.NewReader(text))
}

// Plan writes down how many items people are to label. It is known before the first label, or does not change any more; what holds is
// returned.
func (s *Stage) Plan(ctx context.Context, d *analysis.Draw, items int) (int, error) {
	labels, err := s.Reader.People(ctx, s.Run.No, s.Name)
	if err != nil || len(labels) > 0 || d.Planned == items {
		return cmp.Or(d.Planned, checked.PlannedItems), err
	}
	d.Planned = items
	return items, s.keep(ctx, d)
}

// yes returns the labels that count as yes; nil: verdicts are scores.
func (s *Stage) yes() []string {
	r := s.Rubric()
	of := analysis.Stage{Flips: r.AgainstFirst}
	for _, l := range r.Labels {
		if !l.Abstain {
			of.Labels = append(of.Labels, analysis.Label{Name: l.Name, Score: l.Score})
		}
	}
	return of.Yes()
}

// itemTasks are the tasks of a stage by item.
type itemTasks map[string][]analysis.Task

func (s *Stage) byItem(ctx context.Context, seen tally) (itemTasks, error) {
	out := itemTasks{}
	flips := s.Rubric().AgainstFirst
	for t, err := range s.Tasks(ctx) {
		if err == nil {
			err = s.count(seen, &t)
		}
		if err != nil {
			return nil, err
		}
		if flips && (&analysis.Stage{Control: plan.ControlBranch}).IsControl(t.At.Branch) {
			continue // nobody presses there
		}
		out[t.At.Item] = append(out[t.At.Item], t)
	}
	return out, nil
}

// lanes returns those of which anything was judged.
func (all itemTasks) lanes() []string {
	var out []string
	for _, tasks := range all {
		for _, t := range tasks {
			if t.Judged && !slices.Contains(out, t.At.Lane) {
				out = append(out, t.At.Lane)
			}
		}
	}
	slices.Sort(out)
	return out
}

// places returns the tasks of an item by where its lanes answered: turn, branch, draw and the like, in their order.
func places(tasks []analysis.Task) [][]analysis.Task {
	var order []assay.Coordinates
	by := map[assay.Coordinates][]analysis.Task{}
	for _, t := range tasks {
		at := t.At
		at.Lane = ""
		if by[at] == nil {
			order = append(order, at)
		}
		by[at] = append(by[at], t)
	}
	out := make([][]analysis.Task, len(order))
	for i, at := range order {
		out[i] = by[at]
	}
	return out
}

// of returns the tasks of an item that people are asked, one of each lane that was drawn, and at how many places the lanes answered; none
// where a lane is missing.
func (all itemTasks) of(d *analysis.Draw, item string) ([]analysis.Task, int) {
	found := places(all[item])
	if len(found) == 0 {
		return nil, 0
	}
	at := found[d.Place(item, len(found))]
	var out []analysis.Task
	for _, lane := range d.Drawn(item) {
		i := slices.IndexFunc(at, func(t analysis.Task) bool { return t.At.Lane == lane })
		if i < 0 {
			return nil, 0
		}
		out = append(out, at[i])
	}
	return out, len(found)
}

// judged returns the items of which judges have judged every lane.
func (all itemTasks) judged(d *analysis.Draw) []analysis.Judgeable {
	var out []analysis.Judgeable
	for item := range all {
		found := places(all[item])
		at := found[d.Place(item, len(found))]
		sum, n := 0.0, 0
		for _, t := range at {
			if t.Judged && slices.Contains(d.Lanes, t.At.Lane) {
				sum, n = sum+t.Mean, n+1
			}
		}
		if n > 0 && n == len(d.Lanes) {
			out = append(out, analysis.Judgeable{Item: item, Mean: sum / float64(n), Places: len(found)})
		}
	}
	slices.SortFunc(out, func(a, b analysis.Judgeable) int { return cmp.Compare(a.Item, b.Item) })
	return out
}

// dealt returns how many items of a draw have any label.
func (all itemTasks) dealt(d *analysis.Draw) int {
	n := 0
	for _, it := range d.Items {
		tasks, _ := all.of(d, it.Item)
		if slices.ContainsFunc(tasks, func(t analysis.Task) bool { return t.Forward+t.Turned > 0 }) {
			n++
		}
	}
	return n
}

// next returns the tasks of the next items for a person: answers that nobody has labelled, and of some items those that one other has.
func (all itemTasks) next(d *analysis.Draw, q analysis.Queue) []analysis.Task {
	var out []analysis.Task
	open := 0
	for i, item := range d.Order() {
		wanted := 1
		if i%secondPerson == secondPerson-1 {
			wanted = 2
		}
		tasks, _ := all.of(d, item)
		found := false
		for _, t := range tasks {
			if !t.Done && t.Forward < wanted && (q.Skip == nil || !q.Skip(t.ID)) {
				t.Chosen = analysis.ChosenDrawn
				out, found = append(out, t), true
			}
		}
		if found {
			open++
		}
		if open == portion {
			break
		}
	}
	out = mixed(out, d.Seed)
	if q.N > 0 {
		out = out[:min(q.N, len(out))]
	}
	return out
}

// mixed returns tasks in an order without two of one item side by side, as far as there is one.
func mixed(tasks []analysis.Task, seed uint64) []analysis.Task {
	slices.SortFunc(tasks, func(a, b analysis.Task) int {
		return cmp.Compare(checked.Hash(seed, string(a.ID[:])), checked.Hash(seed, string(b.ID[:])))
	})
	var out []analysis.Task
	for len(tasks) > 0 {
		i := 0
		if len(out) > 0 {
			last := out[len(out)-1].At.Item
			i = max(0, slices.IndexFunc(tasks, func(t analysis.Task) bool { return t.At.Item != last }))
		}
		out, tasks = append(out, tasks[i]), slices.Delete(tasks, i, i+1)
	}
	return out
}
