package people

import (
	"cmp"
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats/checked"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/plan"
)

// portion is how many items are labelled at a time, their answers mixed.
const portion = 5

// secondPerson is of how many drawn items one is shown to a second person, too.
const secondPerson = 10

// Draw returns the items of the stage that people are asked about, as they were drawn; nil: nobody was asked yet.
func (s *Stage) Draw(ctx context.Context) (*analysis.Draw, error) {
	return snapshot.DrawOf(ctx, s.Reader, s.Run.No, s.Name)
}

// drawn returns the tasks of the next items that were drawn. What was judged since the last time is added to the draw.
func (s *Stage) drawn(ctx context.Context, q analysis.Queue, seen tally) ([]analysis.Task, error) {
	d, err := s.Draw(ctx)
	if err != nil {
		return nil, err
	}
	lanes, err := s.judgedLanes(ctx, seen)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = &analysis.Draw{Seed: checked.Hash(q.Seed, s.Run.Digest+" "+s.Name), Lanes: lanes, YesNo: !s.pairs() && s.yes() != nil}
	}
	widened := d.Widen(lanes)
	next, err := s.next(ctx, d, q, seen)
	if err != nil {
		return nil, err
	}
	before := len(d.Items)
	if d.Add(next.more, next.dealt); len(d.Items) != before || widened {
		if err := s.keep(ctx, d); err != nil {
			return nil, err
		}
		if next, err = s.next(ctx, d, q, seen); err != nil {
			return nil, err
		}
	}
	tasks := next.tasks(d, q)
	open, ties, err := s.differing(ctx, tasks, q.Person)
	if err != nil || len(open) > 0 || ties == 0 {
		return open, err
	}
	if seen, err = s.tally(ctx, q.Person); err != nil {
		return nil, err
	}
	return s.drawn(ctx, q, seen)
}

// differing leaves out pairs of the same text, and labels them as ties: nobody has to look at them, and without their labels an item that
// was drawn would never be whole. Pairs that cannot be shown for another reason are left out and get no label.
func (s *Stage) differing(ctx context.Context, tasks []analysis.Task, person string) (out []analysis.Task, ties int, err error) {
	if !s.pairs() {
		return tasks, 0, nil
	}
	for _, t := range tasks {
		sheet, ok, err := s.Show(ctx, t)
		if err != nil {
			return nil, ties, err
		}
		if ok {
			out = append(out, t)
		}
		if !sheet.Same {
			continue
		}
		v, err := s.Verdict(t, person, assay.Verdict{State: assay.VerdictValid, Label: assay.LabelTie, Why: "both have the same text"})
		if err == nil {
			err = s.Label(ctx, v)
		}
		if err != nil {
			return nil, ties, err
		}
		ties++
	}
	return out, ties, nil
}

func (s *Stage) keep(ctx context.Context, d *analysis.Draw) error {
	return snapshot.KeepDraw(ctx, s.Runs, s.Run.No, s.Name, d)
}

// yes returns the labels that count as yes; nil: verdicts are scores.
func (s *Stage) yes() []string {
	r := s.Rubric()
	of := analysis.Stage{Flips: r.AgainstFirst, Weighed: r.Weighed}
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
			for _, lane := range []string{t.At.Lane, t.At.Against} {
				if t.Judged && lane != "" && !slices.Contains(out, lane) {
					out = append(out, lane)
				}
			}
		}
	})
	slices.Sort(out)
	return out, err
}

// next is the next task of a person, and the findings on the way to it.
type next struct {
	open  []openItem           // the first items with anything to label, in the order of the draw
	dealt int                  // items of the draw that have any label
	more  []analysis.Judgeable // items of which judges have judged every lane, and that are not in the draw
}

// openItem is an item at its place in the order of a draw, with the answers that a person may label.
type openItem struct {
	place int
	begun bool // some of it is labelled
	tasks []analysis.Task
}

// next reads the items of the stage. Of an answer that nobody has labelled a person is asked, and of some items those that one other has.
func (s *Stage) next(ctx context.Context, d *analysis.Draw, q analysis.Queue, seen tally) (out next, err error) {
	order := map[string]int{}
	for i, item := range d.Order() {
		order[item] = i
	}
	err = s.eachItem(ctx, seen, func(item string, all []analysis.Task) {
		if slices.ContainsFunc(all, func(t analysis.Task) bool { return t.Earlier }) {
			return
		}
		found := places(all)
		at := found[d.Place(item, len(found))]
		place, drawn := order[item]
		if !drawn {
			if m, ok := judgeable(item, s.ofLanes(at, d.Lanes)); ok {
				m.Places = len(found)
				out.more = append(out.more, m)
			}
			return
		}
		tasks := s.ofLanes(at, d.Drawn(item))
		begun := slices.ContainsFunc(tasks, func(t analysis.Task) bool { return t.Forward+t.Turned > 0 })
		out.dealt += int(gather.One(begun))
		out.add(openItem{place, begun, openTasks(tasks, place, max(1, d.Raters), q)})
	})
	slices.SortFunc(out.more, func(a, b analysis.Judgeable) int { return cmp.Compare(a.Item, b.Item) })
	return out, err
}

// judgeable returns an item for the draw, if every lane of it was judged.
func judgeable(item string, tasks []analysis.Task) (analysis.Judgeable, bool) {
	sum := 0.0
	for _, t := range tasks {
		if !t.Judged {
			return analysis.Judgeable{}, false
		}
		sum += t.Mean
	}
	return analysis.Judgeable{Item: item, Mean: sum / float64(len(tasks))}, len(tasks) > 0
}

// openTasks returns what a person may label of an item, as long as fewer people have than are wanted.
func openTasks(tasks []analysis.Task, place, wanted int, q analysis.Queue) (out []analysis.Task) {
	if place%secondPerson == secondPerson-1 {
		wanted = max(wanted, 2)
	}
	for _, t := range tasks {
		if !t.Done && t.Forward+t.Turned < wanted && (q.Skip == nil || !q.Skip(t.ID)) {
			t.Chosen = analysis.ChosenDrawn
			out = append(out, t)
		}
	}
	return out
}

// add keeps an item if it is among the first.
func (n *next) add(it openItem) {
	if len(it.tasks) == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(n.open, it.place, func(o openItem, place int) int { return cmp.Compare(o.place, place) })
	n.open = slices.Insert(n.open, i, it)
	n.open = n.open[:min(portion, len(n.open))]
}

// tasks returns the answers of the first items, mixed: what was begun is done first, so that as few items as can be lack a label when a
// person stops. Of pairs, every second one is turned.
func (n *next) tasks(d *analysis.Draw, q analysis.Queue) (out []analysis.Task) {
	var begun, further []analysis.Task
	for _, it := range n.open {
		if it.begun {
			begun = append(begun, it.tasks...)
		} else {
			further = append(further, it.tasks...)
		}
	}
	out = append(mixed(begun, d.Seed), mixed(further, d.Seed)...)
	for i := range out {
		out[i].Turn = out[i].At.Against != "" && (n.open[0].place+i)%2 == 1
	}
	if q.N > 0 {
		out = out[:min(q.N, len(out))]
	}
	return out
}

// ofLanes returns the tasks about some lanes, or about every two of them; none where one is missing.
func (s *Stage) ofLanes(tasks []analysis.Task, lanes []string) []analysis.Task {
	var out []analysis.Task
	for i, lane := range lanes {
		others := []string{""}
		if s.pairs() {
			others = lanes[i+1:]
		}
		for _, other := range others {
			k := slices.IndexFunc(tasks, func(t analysis.Task) bool { return t.At.Lane == lane && t.At.Against == other })
			if k < 0 {
				return nil
			}
			out = append(out, tasks[k])
		}
	}
	return out
}

// places returns the tasks of an item by where its lanes answered: turn, branch, draw and the like, in their order.
func places(tasks []analysis.Task) [][]analysis.Task {
	var order []assay.Coordinates
	by := map[assay.Coordinates][]analysis.Task{}
	for _, t := range tasks {
		at := t.At
		at.Lane, at.Against = "", ""
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
