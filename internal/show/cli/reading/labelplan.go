package reading

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
	"assay/internal/show/cli/shell"
)

// target is what labels are to show, as it was typed.
type target struct {
	flag, text string
	size       float64
	apart      bool
}

// targetOf reads --for or --apart.
func targetOf(f labelFlags) (t target, err error) {
	if t = (target{flag: "--for", text: f.want}); f.apart != "" {
		t = target{flag: "--apart", text: f.apart, apart: true}
	}
	t.size, err = strconv.ParseFloat(t.text, 64)
	switch {
	case f.want != "" && f.apart != "":
		return t, shell.Usage("--for 6: rates within 6 points; --apart 10: lanes that differ by 10 points",
			"--for and --apart do not go together")
	case err != nil || !(t.size > 0 && t.size < 50):
		return t, shell.Usage("such as "+t.flag+" 6: points", "%s %q is no number of points between 0 and 50", t.flag, t.text)
	case f.count > 0:
		return t, shell.Usage("--count says how many labels, "+t.flag+" what they are to show", "--count and %s do not go together", t.flag)
	}
	return t, nil
}

// words returns what labels are to show.
func (t target) words() string {
	if t.apart {
		return "two lanes that differ by " + t.text + " points cannot be told apart"
	}
	return "rates cannot be known within " + t.text + " points"
}

// plan finds out how many labels it takes to show what was asked for.
func (q *labelling) plan(ctx context.Context, f labelFlags) error {
	t, err := targetOf(f)
	if err != nil {
		return err
	}
	if _, err := q.panel.People.Next(ctx, analysis.Queue{Person: q.person, Seed: f.seed}); err != nil {
		return err
	}
	d, err := q.panel.People.Draw(ctx)
	if err != nil {
		return err
	}
	if d == nil {
		return shell.Usage("--count N labels so many", "%s is for answers that are drawn: those of %s are not", t.flag, q.stage)
	}
	items, measured, err := q.itemsFor(ctx, d, t)
	if err != nil {
		return err
	}
	planned, err := q.panel.People.Plan(ctx, d, items)
	if err != nil {
		return err
	}
	looks, stop := d.Looks(0.05, 0), planned
	if planned = min(planned, d.First()); planned != items {
		if last := looks[len(looks)-1].Items; items > planned && last <= len(d.Items) { // there is one correction more beyond the plan
			stop = last
		}
		why := ""
		if measured {
			why = " as the labels so far show"
		}
		fmt.Fprintf(q.world.Stderr, "%s %s takes %s%s, but labels were given when %d were planned, and that stays\n", t.flag, t.text,
			assay.Count(items, "item"), why, planned)
	}
	stop = min(stop, len(d.Items))
	if q.left, err = q.panel.People.LabelsLeft(ctx, d, stop); err != nil {
		return err
	}
	if q.left == 0 {
		return shell.Usage("`assay analyse "+q.run.ID+"` shows what they correct; --count N labels more",
			"all answers of the %s that were planned have a label", assay.Count(stop, "item"))
	}
	var at []string
	for _, l := range looks {
		if l.Items <= stop {
			at = append(at, fmt.Sprint(l.Items))
		}
	}
	fmt.Fprintf(q.world.Stderr, "%s to come, of %s; numbers are corrected at %s items\n", assay.Count(q.left, "label"),
		assay.Count(stop, "item"), strings.Join(slices.Compact(at), ", "))
	return nil
}

// itemsFor returns how many items are to be labelled, and whether labels show that.
func (q *labelling) itemsFor(ctx context.Context, d *analysis.Draw, t target) (items int, measured bool, err error) {
	size := t.size / 100
	if scores := !d.YesNo && !q.panel.Pairs(); scores {
		size = t.size
	}
	w, measured, known, err := q.panel.Wanted(ctx, d, size, t.apart)
	if err != nil {
		return 0, false, err
	}
	if !known {
		return 0, false, shell.Usage("--count N labels so many",
			"%s needs %d labelled items where judges give scores: how far they scatter is not known yet", t.flag, checked.FewestChecked)
	}
	if items, ok := w.ItemsToLabel(); ok {
		return items, measured, nil
	}
	hint := "with more points, or --count N"
	for w.Items = 2 * len(d.Items); w.Items <= 4*len(d.Items); w.Items *= 2 {
		if n, ok := w.ItemsToLabel(); ok {
			hint = fmt.Sprintf("of %s it takes %d; or %s", assay.Count(w.Items, "item"), n, hint)
			break
		}
	}
	return 0, false, shell.Usage(hint, "%s with %s", t.words(), assay.Count(len(d.Items), "item"))
}
