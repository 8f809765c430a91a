package results

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study"
	"assay/internal/study/expr"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// rowReader turns the ledger of one run into rows.
type rowReader struct {
	*Reader
	run   store.Run
	study *study.Study
	by    []string
	query Query
	where func(*analysis.Row) bool // nil: all rows
	look  bool                     // comparisons that were all planned at once are looked at as if they had been a round

	styled     map[string]bool // stages of which an analysis controls for style
	fields     []string        // of items, that are asked for
	seen       map[string]bool // those that an item has
	items      map[string]map[string]*analysedItem
	endings    map[assay.Key]assay.Ending       // of answers that were refused or cut
	valid      map[judgeOf]int                  // valid verdicts
	scratch    map[string]any                   // what conditions look at, row by row
	lengths    map[assay.Key]int32              // of the answers that the stage at hand is about
	styles     map[assay.Key]analysis.Style     // of the same answers, where an analysis controls for style
	itemStyles map[string]analysis.Style        // of items that are compared with each other
	branch     map[string]map[string]string     // what the branches of the stage at hand are, where they are items
	shared     map[[2]string]map[string]string  // what two items have in common, by field and value
	settings   map[string]*analysis.LaneSetting // by lane
	roots      map[string]string                // the stage in which conversations of a stage began
	err        error                            // of a condition

	done     []string // stages whose verdicts are read
	warnings []string
}

// judgeOf is a judge in a stage.
type judgeOf struct{ stage, judge string }

// analysedItem is what rows need of an item.
type analysedItem struct {
	cluster, expect string
	texts           map[string]string // the fields that are asked for, shared with all items that have the same
	fields          map[string]any    // for conditions
}

// analysisSeed is where resamples begin, so that the same ledger always gives the same numbers.
const analysisSeed = 1

// report reads all verdicts once.
func (d *rowReader) report(ctx context.Context, gates []gate) (*analysis.Report, error) {
	stages, err := d.stages(ctx)
	if err != nil {
		return nil, err
	}
	specs, err := d.specs(stages, gates)
	if err != nil {
		return nil, err
	}
	d.settings, d.roots = settingsOf(d.study), d.beginnings()
	if err := d.know(ctx, stages, specs); err != nil {
		return nil, err
	}
	stages = slices.DeleteFunc(stages, func(s analysis.Stage) bool {
		return !slices.ContainsFunc(specs, func(p analysis.Spec) bool { return p.Stage == s.Name })
	})
	for _, s := range stages {
		d.done = append(d.done, s.Name)
	}
	analyzer, err := analysis.Open(stages, specs, analysis.Options{Seed: analysisSeed})
	if err != nil {
		return nil, mistake("", "%s", err)
	}
	d.wanted(stages, specs)
	d.styled = map[string]bool{}
	for _, s := range specs {
		d.styled[s.Stage] = d.styled[s.Stage] || s.Control != 0
	}
	if err := d.readEndings(ctx); err != nil {
		return nil, err
	}
	d.items, d.seen, d.valid = map[string]map[string]*analysedItem{}, map[string]bool{}, map[judgeOf]int{}
	d.shared = map[[2]string]map[string]string{}
	for _, s := range stages {
		if err := d.read(ctx, analyzer, s); err != nil {
			return nil, fmt.Errorf("analyse stage %s: %w", s.Name, err)
		}
		if err := analyzer.Done(s.Name); err != nil {
			return nil, err
		}
	}
	if err := d.query.fields(d.seen); err != nil {
		return nil, err
	}
	return analyzer.Report()
}

// wanted notes the fields of items that analyses group by or conditions look at.
func (d *rowReader) wanted(stages []analysis.Stage, specs []analysis.Spec) {
	for _, s := range stages {
		if s.Within != "" {
			d.fields = append(d.fields, s.Within)
		}
	}
	for _, s := range specs {
		for _, f := range s.By {
			if analysis.OfItems(f) {
				d.fields = append(d.fields, f)
			}
		}
		if s.With != "" {
			d.fields = append(d.fields, s.With)
		}
	}
}

// readEndings notes which answers were refused or cut; most lanes have none.
func (d *rowReader) readEndings(ctx context.Context) error {
	d.endings = map[assay.Key]assay.Ending{}
	lanes, err := d.Ledger.Lanes(ctx, d.run.No)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		st, ok := d.study.Stage(l.Stage)
		if !ok || st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare || l.Endings[assay.Refused]+l.Endings[assay.Cut] == 0 {
			continue
		}
		for a, err := range d.Ledger.Answers(ctx, d.run.No, l.Stage, l.Name) {
			if err != nil {
				return err
			}
			if e := a.Outcome.Ending; e == assay.Refused || e == assay.Cut {
				d.endings[a.Key] = e
			}
		}
	}
	return nil
}

// read enters the verdicts of one stage, and the places where there should be some.
func (d *rowReader) read(ctx context.Context, analyzer *analysis.Analyzer, s analysis.Stage) error {
	st, _ := d.study.Stage(s.Name)
	items, err := d.itemsOf(ctx, (&plan.Input{Study: d.study}).Root(st))
	if err != nil {
		return err
	}
	if err := d.gold(ctx, analyzer, st, items); err != nil {
		return err
	}
	if err := d.readLengths(ctx, st, s); err != nil {
		return err
	}
	if err := d.readStyles(ctx, st, s); err != nil {
		return err
	}
	if d.branch, err = d.branchesOf(ctx, st); err != nil {
		return err
	}
	if !s.Machines() && d.asksPeople(st) {
		if err := d.expectPeople(ctx, analyzer, s.Name, items); err != nil {
			return err
		}
	}
	p := d.panelOf(st)
	if err := analyzer.Expect(d.rows(d.expected(ctx, s.Name, p), items)); err != nil {
		return err
	}
	if err := analyzer.Read(d.rows(d.given(ctx, s.Name, p), items)); err != nil {
		return err
	}
	if p == nil {
		return d.err
	}
	if err := analyzer.Expect(p.rows()); err != nil {
		return err
	}
	if err := analyzer.Read(p.decided()); err != nil {
		return err
	}
	return d.err
}

// expected walks over the places where a stage should have a verdict.
func (d *rowReader) expected(ctx context.Context, stage string, p *jury) coordinated {
	return func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
		note := func(r *analysis.Row) {
			if p != nil {
				p.unit(r)
			}
		}
		for at, err := range ahead(d.Scripts.Expected(ctx, d.run, stage)) {
			if !yield(at, note, err) {
				return
			}
		}
	}
}

// given walks over the verdicts of a stage.
func (d *rowReader) given(ctx context.Context, stage string, p *jury) coordinated {
	subjects := store.WithoutSubjects
	if len(d.lengths)+len(d.styles)+len(d.endings) > 0 {
		subjects = store.WithSubjects
	}
	return func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
		var v store.Verdict
		note := func(r *analysis.Row) {
			d.verdict(r, &v)
			left := v.Again > 0 && d.where != nil && !d.where(r)
			if p != nil && !left && !r.Person() { // people sit on no jury: they may never come
				p.hear(r, &v)
			}
		}
		var err error
		for v, err = range ahead(d.Ledger.VerdictRows(ctx, d.run.No, stage, subjects)) {
			if !yield(v.At, note, err) {
				return
			}
		}
	}
}

// coordinated walks over coordinates, each with what else is known of its row.
type coordinated func(yield func(assay.Coordinates, func(*analysis.Row), error) bool)

// rows makes one row after the other out of coordinates.
func (d *rowReader) rows(all coordinated, items map[string]*analysedItem) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		var row analysis.Row
		all(func(at assay.Coordinates, fill func(*analysis.Row), err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			row = rowOf(at, script.ReadingOf(at), items[at.Item])
			if row.Branches = d.branch[at.Branch]; at.Lane == "" && at.Against != "" {
				row.Fields = d.sharedBy(at, items)
			}
			d.asking(&row, at)
			fill(&row)
			return yield(&row, nil) && d.err == nil
		})
	}
}

func rowOf(at assay.Coordinates, r script.Reading, it *analysedItem) analysis.Row {
	row := analysis.Row{
		Stage: at.Stage, Judge: at.Judge, Lane: at.Lane, Item: at.Item, Template: r.Template, Prompt: r.Prompt, Trait: r.Trait,
		Branch: at.Branch, Turn: at.Turn, Draw: r.Draw, Vote: r.Vote,
	}
	if r.Second != "" {
		row.Lane, row.Other = r.First, r.Second
	}
	if r.Items { // the item is who competes, not what both are about
		row.Item, row.Branch, row.Cluster = "", "", pairs.Unordered(pairs.Of(at))
		return row
	}
	if it != nil {
		row.Cluster, row.Expect, row.Fields = it.cluster, it.expect, it.texts
	}
	return row
}

func (d *rowReader) verdict(r *analysis.Row, v *store.Verdict) {
	r.State, r.Label, r.Score = assay.VerdictState(v.State), v.Label, v.Score
	if v.State == store.VerdictValid && v.Segment != 0 {
		d.valid[judgeOf{r.Stage, r.Judge}]++
	}
	r.Again, r.Fallback = v.Again > 0, v.By != ""
	if len(d.lengths) > 0 {
		r.Length, r.OtherLength = int(d.lengths[v.Subject]), int(d.lengths[v.Against])
	}
	d.style(r, v)
	if len(d.endings) > 0 {
		r.Ending = d.endings[v.Subject]
		if r.Ending == "" {
			r.Ending = d.endings[v.Against]
		}
	}
}

// itemsOf reads what rows need of the items of an input.
func (d *rowReader) itemsOf(ctx context.Context, input string) (map[string]*analysedItem, error) {
	if items, ok := d.items[input]; ok {
		return items, nil
	}
	out, alike := map[string]*analysedItem{}, map[string]*analysedItem{}
	all := d.Ledger.ItemHeads
	if len(d.fields) > 0 {
		all = d.Ledger.Items
	}
	for it, err := range all(ctx, d.run.No, input) {
		if err != nil {
			return nil, err
		}
		if it.Cluster == it.ID {
			it.Cluster = "" // as for any item that has none
		}
		if it.Cluster == "" && it.Expect == "" && len(d.fields) == 0 {
			continue // there is nothing to know
		}
		out[strings.Clone(it.ID)] = d.kept(it, alike)
	}
	d.items[input] = out
	return out, nil
}

// kept is what rows need of one item; items that are alike in it share it.
func (d *rowReader) kept(it assay.Item, alike map[string]*analysedItem) *analysedItem {
	one := &analysedItem{cluster: it.Cluster, expect: it.Expect}
	for _, f := range d.fields {
		v, ok := fieldAt(it.Fields, f)
		if !ok {
			continue
		}
		if one.texts == nil {
			one.texts = map[string]string{}
		}
		one.texts[f], d.seen[f] = fmt.Sprint(v), true
		if d.scratch != nil {
			top, _, _ := strings.Cut(f, ".")
			if one.fields == nil {
				one.fields = map[string]any{}
			}
			one.fields[top], one.fields[f] = it.Fields[top], v
		}
	}
	if one.fields != nil {
		return one
	}
	key := fmt.Sprintf("%q %q %q", one.cluster, one.expect, one.texts)
	if same, ok := alike[key]; ok {
		return same
	}
	alike[key] = one
	return one
}

// keeper is a condition of an analysis; what goes wrong is reported when all rows are read.
func (d *rowReader) keeper(p *expr.Program) func(*analysis.Row) bool {
	if d.scratch == nil {
		d.scratch = map[string]any{}
	}
	for _, u := range p.Fields() {
		d.fields = append(d.fields, u.Field)
	}
	return func(r *analysis.Row) bool {
		st, ok := d.study.Stage(r.Stage)
		if !ok {
			return false
		}
		return d.keeps(p, r, d.items[(&plan.Input{Study: d.study}).Root(st)][r.Item])
	}
}

// whereSecondTry is the field by which a condition knows verdicts of a second try. Where they are left out, their places are
// expected all the same: the table says how much is missing without them.
const whereSecondTry = "second_try"

// otherLane is the field by which a condition knows the second of a pair.
const otherLane = "other"

// keeps asks a condition about a row: it sees the item's fields and the row's own, of which the latter win.
func (d *rowReader) keeps(p *expr.Program, r *analysis.Row, it *analysedItem) bool {
	seen := assay.Item{ID: r.Item, Fields: d.scratch}
	clear(d.scratch)
	if it != nil {
		seen.Expect = it.expect
		maps.Copy(d.scratch, it.fields)
	}
	for _, f := range analysis.OwnFields() {
		if v := r.Field(f); v != "" || !analysis.OfItems(f) {
			d.scratch[f] = v
		}
	}
	d.scratch[analysis.ByTurn], d.scratch[analysis.ByDraw] = int64(r.Turn), int64(r.Draw)
	d.scratch[whereSecondTry] = r.Again
	if r.Other != "" {
		d.scratch[otherLane] = r.Other
	}
	ok, err := p.Bool(expr.Vars{Item: &seen})
	if err != nil && d.err == nil {
		d.err = err
	}
	return ok && err == nil
}
