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
	d, err := s.Draw(ctx)
	if err != nil {
		return nil, err
	}
	if d == nil {
		lanes, err := s.judgedLanes(ctx, seen)
		if err != nil {
			return nil, err
		}
		d = &analysis.Draw{Seed: checked.Hash(q.Seed, s.Run.Digest+" "+s.Name), Lanes: lanes, YesNo: s.yes() != nil}
	}
	tasks, more, err := s.drawable(ctx, d, seen)
	if err != nil {
		return nil, err
	}
	before := len(d.Items)
	if d.Add(more, dealt(tasks)); len(d.Items) != before {
		if err := s.keep(ctx, d); err != nil {
			return nil, err
		}
		if tasks, _, err = s.drawable(ctx, d, seen); err != nil {
			return nil, err
		}
	}
	return next(d, tasks, q), nil
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

// eachItem hands over the tasks of one item after the other. Of flips, those of the control are left out: nobody presses there.
func (s *Stage) eachItem(ctx context.Context, seen tally, do func(item string, tasks []analysis.Task)) error {
	flips, of := s.Rubric().AgainstFirst, &analysis.Stage{Control: plan.ControlBranch}
	for r, err := range s.Stages.Rows(ctx, s.Judging) {
		if err != nil {
			return err
		}
		var tasks []analysis.Task
		for _, t := range s.tasksOf(r) {
			if flips && of.IsControl(t.At.Branch) {
				continue
			}
			if err := s.count(seen, &t); err != nil {
				return err
			}
			tasks = append(tasks, t)
		}
		if len(tasks) > 0 {
			do(r.ID, tasks)
		}
	}
	return nil
}

// judgedLanes returns the lanes of which judges have judged anything.
func (s *Stage) judgedLanes(ctx context.Context, seen tally) ([]string, error) {
	var out []string
	err := s.eachItem(ctx, seen, func(_ string, tasks []analysis.Task) {
		for _, t := range tasks {
			if t.Judged && !slices.Contains(out, t.At.Lane) {
				out = append(out, t.At.Lane)
			}
		}
	})
	slices.Sort(out)
	return out, err
}

// drawable returns the tasks of the items of a draw that people are asked, and the other items of which judges have judged every lane.
func (s *Stage) drawable(ctx context.Context, d *analysis.Draw, seen tally) (map[string][]analysis.Task, []analysis.Judgeable, error) {
	tasks := make(map[string][]analysis.Task, len(d.Items))
	for _, it := range d.Items {
		tasks[it.Item] = nil
	}
	var more []analysis.Judgeable
	err := s.eachItem(ctx, seen, func(item string, all []analysis.Task) {
		found := places(all)
		at := found[d.Place(item, len(found))]
		if _, ok := tasks[item]; ok {
			tasks[item] = ofLanes(at, d.Drawn(item))
			return
		}
		sum, judged := 0.0, ofLanes(at, d.Lanes)
		for _, t := range judged {
			if !t.Judged {
				return
			}
			sum += t.Mean
		}
		if len(judged) > 0 {
			more = append(more, analysis.Judgeable{Item: item, Mean: sum / float64(len(judged)), Places: len(found)})
		}
	})
	slices.SortFunc(more, func(a, b analysis.Judgeable) int { return cmp.Compare(a.Item, b.Item) })
	return tasks, more, err
}

// ofLanes returns the tasks about some lanes; none where one is missing.
func ofLanes(tasks []analysis.Task, lanes []string) []analysis.Task {
	var out []analysis.Task
	for _, lane := range lanes {
		i := slices.IndexFunc(tasks, func(t analysis.Task) bool { return t.At.Lane == lane })
		if i < 0 {
			return nil
		}
		out = append(out, tasks[i])
	}
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

// dealt returns how many of the items have any label.
func dealt(items map[string][]analysis.Task) int {
	n := 0
	for _, tasks := range items {
		if slices.ContainsFunc(tasks, func(t analysis.Task) bool { return t.Forward > 0 }) {
			n++
		}
	}
	return n
}

// next returns the tasks of the next items for a person: answers that nobody has labelled, and of some items those that one other has.
func next(d *analysis.Draw, items map[string][]analysis.Task, q analysis.Queue) []analysis.Task {
	var out []analysis.Task
	open := 0
	for i, item := range d.Order() {
		wanted := 1
		if i%secondPerson == secondPerson-1 {
			wanted = 2
		}
		found := false
		for _, t := range items[item] {
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
