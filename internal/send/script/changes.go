package script

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Changes is what an edit of a study changes of what its run has asked: those requests are asked again, and what stood for them is
// superseded.
type Changes struct {
	Asked  []store.Share // requests that are asked again, by stage and lane
	Back   []store.Share // those of them that were asked so before: their answers are taken over
	Reread []string      // stages whose verdicts are read again out of what was said

	by store.Superseding
}

// Requests is how many are asked again.
func (c *Changes) Requests() int64 {
	return sumOf(c.Asked)
}

// any reports whether anything that was asked or read is so no more.
func (c *Changes) any() bool {
	return len(c.by.Requests)+len(c.by.Verdicts)+len(c.by.Subjects)+len(c.by.Stages) > 0
}

// TakenOver is how many of them have an answer from before.
func (c *Changes) TakenOver() int64 { return sumOf(c.Back) }

func sumOf(shares []store.Share) int64 {
	n := int64(0)
	for _, s := range shares {
		n += s.Requests
	}
	return n
}

// FixedError says why a run cannot go on with a changed study.
type FixedError struct {
	Why      string
	InFlight bool // it can when nothing of it is in flight any more
}

// Error says it.
func (e *FixedError) Error() string { return e.Why }

// Changes compares every request that a run has sent with what the changed study asks under the same key. A request is another
// when its bytes are, when its lane goes elsewhere, or when an answer that it is made from is superseded. *FixedError: the run cannot
// go on with it.
func (p *Library) Changes(ctx context.Context, r Revision) (*Changes, error) {
	was, err := p.Open(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	if why := r.Difference.Fixed(was.input.Study, r.Input.Study); why != "" {
		return nil, &FixedError{Why: why}
	}
	if err := was.recallLooks(ctx); err != nil {
		return nil, err
	}
	is, err := p.draft(ctx, was, r.Input)
	if err != nil {
		return nil, err
	}
	c := &changing{was: was, is: is, out: &Changes{}, touched: map[assay.Key]bool{}, shares: map[store.Share]int64{}, found: map[store.GroupKey]int64{}}
	c.reuse, c.address, c.back, c.backs = r.Reuse, r.Address, map[assay.Key]store.Question{}, map[store.Share]int64{}
	c.edited = map[string]map[string]bool{}
	for input, ids := range r.Edited {
		c.edited[input] = map[string]bool{}
		for _, id := range ids {
			c.edited[input][id] = true
		}
	}
	for _, st := range plan.InOrder(is.input.Study) {
		if rec, ok := is.stages[st.Name]; ok && was.stages[st.Name] != nil && is.settings.wants(st.Name) && !imports(rec) {
			if err := c.stage(ctx, st, rec, r.Difference); err != nil {
				return nil, err
			}
		}
	}
	if err := c.complete(ctx); err != nil {
		return nil, err
	}
	return c.out, nil
}

// draft is the script of a run with a study that is not the run's yet.
func (p *Library) draft(ctx context.Context, was *Script, in *plan.Input) (*Script, error) {
	run, settings, own := was.run, was.settings, *in
	own.Rows, own.Drawn = limitedRows{in, settings.Limit}, nil
	s := &Script{
		Library: p, run: run, settings: settings, input: &own, stages: map[string]stage{}, absorbed: map[int64]bool{}, closed: map[string]bool{}, decided: map[gateKey]fate{}, spared: map[string]bool{},
	}
	if err := s.buildStages(ctx); err != nil {
		return nil, err
	}
	if err := s.keepDrawn(ctx, was); err != nil {
		return nil, err
	}
	if err := s.recallLooks(ctx); err != nil {
		return nil, err
	}
	return s, s.rereads(ctx)
}

// changing is the comparison of two scripts of a run.
type changing struct {
	was, is *Script
	out     *Changes
	edited  map[string]map[string]bool // items, by input
	touched map[assay.Key]bool         // requests that are superseded
	shares  map[store.Share]int64
	found   map[store.GroupKey]int64 // requests that were sent and are still asked
	open    map[store.Share]int64    // of those that are superseded: in flight

	reuse   *store.ReuseFrom
	address func(provider string) string
	back    map[assay.Key]store.Question // requests that were asked so before
	backs   map[store.Share]int64
}

// stage compares what was asked in one stage. Those that it follows went before.
func (c *changing) stage(ctx context.Context, st *study.Stage, rec stage, d edit.Difference) error {
	if r, ok := rec.(reader); ok {
		if d.Rereads(c.is.input.Study, st) {
			c.out.Reread = append(c.out.Reread, st.Name)
		}
		if t, ok := rec.(*itemContest); ok {
			for _, id := range ids(c.edited[t.input]) {
				c.out.by.Subjects = append(c.out.by.Subjects, t.itemKey(id))
			}
		}
		if rubric, _ := r.by(); silent(rubric) {
			return c.silent(ctx, st, r)
		}
	}
	for _, l := range rec.lanes() {
		for _, g := range groupsOf(rec, st.Name, l.Name) {
			if err := c.group(ctx, rec, g); err != nil {
				return err
			}
		}
	}
	return nil
}

func ids(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for id := range set {
		out = append(out, id)
	}
	sort.Strings(out)
	return out
}

// silent notes the verdicts of a rule or a program on items that were edited: what it expects may be another.
func (c *changing) silent(ctx context.Context, st *study.Stage, rec reader) error {
	if len(c.edited[rec.items()]) == 0 {
		return nil
	}
	for _, name := range rec.voices() {
		for _, g := range groupsOf(rec, st.Name, name) {
			for block, err := range c.is.blocks(ctx, rec, g) {
				if err != nil {
					return err
				}
				for _, w := range block {
					if c.edited[rec.items()][w.item.ID] {
						c.out.by.Verdicts = append(c.out.by.Verdicts, w.at.Key())
					}
				}
			}
		}
	}
	return nil
}

// group compares what one lane was asked in one turn.
func (c *changing) group(ctx context.Context, rec stage, g store.GroupKey) error {
	before := c.was.stages[g.Stage]
	elsewhere, err := c.elsewhere(g)
	if err != nil {
		return err
	}
	for block, err := range c.is.blocks(ctx, rec, g) {
		if err != nil {
			return err
		}
		keys := make([]assay.Key, len(block))
		for i, w := range block {
			keys[i] = w.at.Key()
		}
		sent, err := c.is.Reader.Sent(ctx, c.is.run.No, keys)
		if err != nil {
			return err
		}
		block = slices.DeleteFunc(block, func(w wanted) bool { _, ok := sent[w.at.Key()]; return !ok })
		c.found[g] += int64(len(block))
		others, err := c.others(ctx, before, rec, block, elsewhere)
		if err != nil {
			return err
		}
		for _, w := range others {
			c.touch(rec, g, w.at, sent[w.at.Key()])
		}
		if err := c.takenBack(ctx, rec, g, others); err != nil {
			return err
		}
	}
	return nil
}

// touch notes a request that is asked again.
func (c *changing) touch(rec stage, g store.GroupKey, at assay.Coordinates, open int64) {
	lane := store.Share{Stage: g.Stage, Lane: g.Lane}
	c.touched[at.Key()] = true
	c.out.by.Requests = append(c.out.by.Requests, at.Key())
	if _, ok := rec.(reader); ok {
		c.out.by.Verdicts = append(c.out.by.Verdicts, firstTry(at).Key())
	}
	c.shares[lane]++
	if open > 0 {
		if c.open == nil {
			c.open = map[store.Share]int64{}
		}
		c.open[lane]++
	}
}

// elsewhere reports whether a lane asks another model, by other parameters or at another place.
func (c *changing) elsewhere(g store.GroupKey) (bool, error) {
	if _, known := c.was.input.Study.Lane(g.Lane); !known {
		return true, nil
	}
	var at [2][]byte
	for i, s := range []*Script{c.was, c.is} {
		r, err := s.Route(g.Stage, g.Lane, store.Batch)
		if err != nil {
			return false, err
		}
		p, _ := s.input.Study.Providers.Find(r.Lane.Provider)
		if at[i], err = json.Marshal([]any{r.Lane.Provider, r.Lane.Model, r.Lane.API, r.Lane.Params, p.Kind, p.BaseURL}); err != nil {
			return false, err
		}
	}
	return string(at[0]) != string(at[1]), nil
}

// others are the requests of a block that the changed study asks otherwise.
func (c *changing) others(ctx context.Context, before, rec stage, block []wanted, elsewhere bool) ([]wanted, error) {
	old, err := c.asBefore(ctx, before, block)
	if err != nil {
		return nil, err
	}
	said, err := (&maker{Script: c.was}).answersFor(ctx, before, old)
	if err != nil {
		return nil, err
	}
	says, err := (&maker{Script: c.is}).answersFor(ctx, rec, block)
	if err != nil {
		return nil, err
	}
	var out []wanted
	for i, w := range block {
		follows, err := c.follows(rec, w)
		if err != nil {
			return nil, err
		}
		if follows || elsewhere {
			out = append(out, w)
			continue
		}
		a, had, err := before.prompt(old[i].item, w.at, said)
		if err != nil {
			return nil, fmt.Errorf("item %q in stage %s, as it was: %w", w.item.ID, w.at.Stage, err)
		}
		b, has, err := rec.prompt(w.item, w.at, says)
		if err != nil {
			return nil, fmt.Errorf("item %q in stage %s: %w", w.item.ID, w.at.Stage, err)
		}
		if had != has || !reflect.DeepEqual(a, b) {
			out = append(out, w)
		}
	}
	return out, nil
}

// asBefore is a block with its items as the run knows them.
func (c *changing) asBefore(ctx context.Context, before stage, block []wanted) ([]wanted, error) {
	ids := make([]string, len(block))
	for i, w := range block {
		ids[i] = w.item.ID
	}
	items, err := c.was.Reader.ItemsByID(ctx, c.was.run.No, before.items(), ids)
	if err != nil {
		return nil, err
	}
	out := make([]wanted, len(block))
	for i, w := range block {
		it, ok := items[w.item.ID]
		if !ok {
			return nil, fmt.Errorf("item %q of run %s: %w", w.item.ID, c.was.run.ID, store.ErrNotFound)
		}
		out[i] = wanted{it, w.at}
	}
	return out, nil
}

// follows reports whether a request is made from one that is superseded, or asks once more what such a one did.
func (c *changing) follows(rec stage, w wanted) (bool, error) {
	if w.at.Again != firstAsked && c.touched[firstTry(w.at).Key()] {
		return true, nil
	}
	needs, err := rec.needs(w.item, w.at)
	return slices.ContainsFunc(needs, func(at assay.Coordinates) bool { return c.touched[at.Key()] }), err
}

// complete makes sure that all that was sent is still asked, and that nothing that is superseded is in flight.
func (c *changing) complete(ctx context.Context) error {
	sent, err := c.is.Reader.SentByGroup(ctx, c.is.run.No)
	if err != nil {
		return err
	}
	gone := map[store.Share]int64{}
	for g, n := range sent {
		if left := n - c.found[g]; left > 0 {
			gone[store.Share{Stage: g.Stage, Lane: g.Lane}] += left
		}
	}
	if len(gone) > 0 {
		return &FixedError{Why: "the study does not ask any more what was asked in " + places(gone)}
	}
	if len(c.open) > 0 {
		return &FixedError{Why: "requests that it changes are in flight, in " + places(c.open), InFlight: true}
	}
	c.out.Asked, c.out.Back = sharesOf(c.shares), sharesOf(c.backs)
	c.out.by.Stages = c.out.Reread
	return nil
}

// sharesOf lists counts in the order of stages and lanes.
func sharesOf(counts map[store.Share]int64) []store.Share {
	var out []store.Share
	for lane, n := range counts {
		out = append(out, store.Share{Stage: lane.Stage, Lane: lane.Lane, Requests: n})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return a.Stage < b.Stage || a.Stage == b.Stage && a.Lane < b.Lane
	})
	return out
}

// places names lanes of stages with how many requests they have.
func places(of map[store.Share]int64) string {
	var words []string
	for lane, n := range of {
		words = append(words, fmt.Sprintf("lane %s of stage %s (%s)", lane.Lane, lane.Stage, assay.Count(n, "request")))
	}
	sort.Strings(words)
	const most = 4
	if len(words) > most {
		words = append(words[:most], "…")
	}
	return strings.Join(words, ", ")
}
