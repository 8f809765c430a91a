package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// TakeOver is the part of a plan that has its answer in earlier runs, and the new part.
type TakeOver struct {
	Most  int64      // requests that have one; of later waves at most
	Away  int64      // of the run that goes on: requests at the providers
	Over  int64      // of the run that goes on: comparisons that were not bought, as its rounds ended before
	New   int64      // those left
	Exact bool       // every request is known and was compared
	Cost  plan.Price // of those left

	Labels int64 // that people gave in those runs
}

// add counts a part of a plan of which so many requests have an answer, and so many are new.
func (t *TakeOver) add(part plan.Part, taken, fresh int64) {
	t.Most, t.New = t.Most+taken, t.New+fresh
	t.Cost = t.Cost.Plus(part.Cost.Share(fresh, part.Requests))
}

// TakesOver returns what a new run takes over. Requests that are known before any answer is there are compared with those of earlier
// runs by what they ask. Later ones depend on answers: one can be taken over only where the answer it is about is.
func (h *Home) TakesOver(ctx context.Context, want Wanted, donors []store.Run) (TakeOver, error) {
	out := TakeOver{Exact: true}
	runs, err := reusedBy(ctx, h, want, donors)
	if err != nil {
		return out, err
	}
	old, err := heritageOf(ctx, h, want, runs)
	if err != nil {
		return out, err
	}
	for _, part := range want.Plan.Parts {
		if out.Exact = out.Exact && part.Turn == 1 && first(want.Input, part) && !part.Gated; len(runs) == 0 {
			out.add(part, 0, part.Requests)
			continue
		}
		taken, err := old.of(ctx, part)
		if err != nil {
			return out, err
		}
		out.add(part, taken, part.Requests-taken)
	}
	out.Labels, err = labelsIn(ctx, h, want, donors)
	return out, err
}

// reusedBy returns the runs whose answers a new run takes over: the donors and a pilot, else those that the study names.
func reusedBy(ctx context.Context, h *Home, want Wanted, donors []store.Run) ([]store.Run, error) {
	r := want.Input.Study.Reuse
	switch {
	case want.New || h.Rehearsal:
		return nil, nil
	case r == nil:
		digest, err := h.digest(ctx, want)
		if err != nil {
			return nil, err
		}
		pilot, err := h.pilotOf(ctx, want, digest)
		if err != nil || pilot == "" {
			return donors, err
		}
		run, err := h.Ledger.Reader.FindRun(ctx, pilot, "")
		return append(slices.Clone(donors), run), err
	case r.Run != "":
		run, err := h.Ledger.Reader.FindRun(ctx, r.Run, "")
		return []store.Run{run}, err
	}
	all, err := h.Ledger.Reader.Runs(ctx, r.Study)
	return slices.DeleteFunc(all, func(o store.Run) bool { return o.Rehearsal }), err
}

// first reports whether the requests of a part are known before any answer is there.
func first(d *plan.Input, part plan.Part) bool {
	st, ok := d.Study.Stage(part.Stage)
	return ok && part.Turn == 1 && (part.Verb == study.VerbAsk || part.Verb == study.VerbCompare && part.Exact && len(st.Judges.List) > 0 &&
		d.Known != nil)
}

// heritage is the answers of earlier runs that a new one may take over.
type heritage struct {
	h       *Home
	want    Wanted
	digests map[string][]*store.Standing // by what was asked, the newest run first
	later   map[store.Stock]int64        // answers that depend on others which are taken over; nil: not counted yet
	all     []*store.Standing
	anew    map[int64]map[string]bool // by run: stages that are reworded since
	lanes   map[string]bool           // that were asked; those of imported answers are not compared
	taken   map[subject]bool          // first answers that are taken over; true: under the same key
}

// subject is an answer of a lane about an item of an earlier run.
type subject struct {
	run        int64
	item, lane string
}

// heritageOf reads what runs have answered.
func heritageOf(ctx context.Context, h *Home, want Wanted, runs []store.Run) (*heritage, error) {
	old := &heritage{h: h, want: want, digests: map[string][]*store.Standing{}, anew: map[int64]map[string]bool{}, lanes: map[string]bool{},
		taken: map[subject]bool{}}
	for _, r := range runs {
		var err error
		if old.anew[r.No], err = anewSince(ctx, h, want, r); err != nil {
			return nil, err
		}
		for a, err := range h.Ledger.Reader.Standing(ctx, r.No) {
			if err != nil {
				return nil, err
			}
			if old.all = append(old.all, &a); a.At.Judge == "" && len(a.Digest) > 0 {
				old.lanes[a.At.Lane] = true
			}
			old.digests[string(a.Digest)] = append(old.digests[string(a.Digest)], &a)
		}
	}
	return old, nil
}

// of returns how many requests of a part are taken over.
func (o *heritage) of(ctx context.Context, part plan.Part) (int64, error) {
	if first(o.want.Input, part) {
		return o.equal(ctx, part)
	}
	if o.later == nil {
		if err := o.depend(ctx); err != nil {
			return 0, err
		}
	}
	of, err := stockOf(part)
	if err != nil {
		return 0, err
	}
	n := min(o.later[of], part.Requests)
	o.later[of] -= n
	return n, nil
}

// equal compares the requests of a part with what was asked before: an answer under the same key is taken first, else one
// under a key that is not asked again.
func (o *heritage) equal(ctx context.Context, part plan.Part) (int64, error) {
	d := o.want.Input
	st, _ := d.Study.Stage(part.Stage)
	l, ok := d.Study.Lane(part.Lane.Name)
	if !ok {
		return 0, nil
	}
	access, err := o.h.World.Accounts(d.Study).Known(l.Provider)
	if err != nil { // reported where the run is begun
		return 0, nil
	}
	asked := map[string][]assay.Key{} // by what is asked
	for f, err := range d.First(ctx, st, l, plan.Options{Limit: o.want.Settings.Limit}) {
		if err != nil {
			return 0, err
		}
		params, err := json.Marshal(f.Lane.Params)
		if err != nil {
			return 0, err
		}
		digest := string(f.Digest(access.BaseURL, params, f.Coordinates.Draw))
		if len(o.digests[digest]) > 0 {
			asked[digest] = append(asked[digest], f.Key)
		}
	}
	n := int64(0)
	for digest, keys := range asked {
		n += o.match(digest, keys)
	}
	return min(n, part.Requests), nil
}

// match takes answers to one question for so many requests, and returns for how many there is one.
func (o *heritage) match(digest string, keys []assay.Key) int64 {
	n, used := int64(0), map[assay.Key]bool{}
	take := func(a *store.Standing, same bool) {
		used[a.Key] = true
		n++
		for from := a.Run; ; from = a.Reused { // the same answer, in each run that has it
			i := slices.IndexFunc(o.digests[digest], func(b *store.Standing) bool { return b.Run == from && b.Key == a.Key })
			if i < 0 {
				return
			}
			a = o.digests[digest][i]
			at := subject{a.Run, a.At.Item, a.At.Lane}
			o.taken[at] = o.taken[at] || same
		}
	}
	var left int
	for _, k := range keys {
		i := slices.IndexFunc(o.digests[digest], func(a *store.Standing) bool { return a.Key == k })
		if i < 0 {
			left++
			continue
		}
		take(o.digests[digest][i], true)
	}
	for _, a := range o.digests[digest] {
		if left > 0 && !used[a.Key] && a.Reused == 0 && !slices.Contains(keys, a.Key) {
			take(a, false)
			left--
		}
	}
	return n
}

// depend counts the later answers whose subjects are taken over, each request once.
func (o *heritage) depend(ctx context.Context) error {
	o.later = map[store.Stock]int64{}
	same, err := o.sameItems(ctx)
	if err != nil {
		return err
	}
	seen := map[assay.Key]bool{}
	for _, a := range o.all {
		at := a.At
		if st, ok := o.want.Input.Study.Stage(at.Stage); !ok || st.Verb() == study.VerbAsk && at.Turn == 1 {
			continue // it was compared
		}
		if seen[a.Key] || o.anew[a.Run][at.Stage] || !same[subject{run: a.Run, item: at.Item}] || !o.has(a, at.Lane) ||
			at.Against != "" && at.Lane != "" && !o.has(a, at.Against) {
			continue
		}
		seen[a.Key] = true
		o.later[store.Stock{Stage: at.Stage, Lane: a.Lane, Provider: a.Provider, Model: a.Model, Params: a.Params}]++
	}
	return nil
}

// has reports whether the answer of a lane that a later one is about is taken over, as far as it was compared. What judges are shown
// is fenced under their key: they are asked again about an answer that has another one.
func (o *heritage) has(later *store.Standing, lane string) bool {
	same, taken := o.taken[subject{later.Run, later.At.Item, lane}]
	return lane == "" || !o.lanes[lane] || taken && (same || later.At.Judge == "")
}

// sameItems returns which items of the earlier runs the study has with the same contents, under this or another id.
func (o *heritage) sameItems(ctx context.Context) (map[subject]bool, error) {
	seed := maphash.MakeSeed()
	each := func(items iter.Seq2[assay.Item, error], do func(it assay.Item, sum uint64)) error {
		for it, err := range items {
			if err != nil {
				return err
			}
			text, err := json.Marshal(it.Fields)
			if err != nil {
				return err
			}
			do(it, maphash.Bytes(seed, append(text, it.Expect...)))
		}
		return nil
	}
	out := map[subject]bool{}
	for _, in := range o.want.Input.Study.Inputs {
		now := map[uint64]bool{}
		err := each(o.want.Input.FirstItems(ctx, in.Name, o.want.Settings.Limit), func(_ assay.Item, sum uint64) { now[sum] = true })
		for run := range o.anew {
			err = errors.Join(err, each(o.h.Ledger.Reader.Items(ctx, run, in.Name), func(it assay.Item, sum uint64) {
				out[subject{run: run, item: it.ID}] = out[subject{run: run, item: it.ID}] || now[sum]
			}))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// anewSince returns the stages of a study that are reworded since a run.
func anewSince(ctx context.Context, h *Home, want Wanted, run store.Run) (map[string]bool, error) {
	was, _, err := h.Planner.Kept(ctx, run)
	if _, unreadable := errors.AsType[assay.Problems](err); unreadable {
		return nil, nil // a later program has stricter rules
	}
	if err != nil {
		return nil, err
	}
	return edit.Compare(was, want.Input.Study).Anew(want.Input.Study), nil
}

// labelsIn counts the labels of people that a new run may take over, each person's on each answer or pair once.
func labelsIn(ctx context.Context, h *Home, want Wanted, donors []store.Run) (int64, error) {
	seen := map[assay.Key]bool{}
	for _, r := range donors {
		for i := range want.Input.Study.Stages {
			for v, err := range h.Ledger.Reader.PeopleVerdicts(ctx, r.No, want.Input.Study.Stages[i].Name) {
				if err != nil {
					return 0, err
				}
				seen[v.At.Key()] = true
			}
		}
	}
	return int64(len(seen)), nil
}

// Has returns what of a plan a run has already, as answers or in flight.
func (h *Home) Has(ctx context.Context, want Wanted, p *plan.Plan, run store.Run) (TakeOver, error) {
	out := TakeOver{Exact: true}
	away, err := h.away(ctx, run)
	if err != nil {
		return out, err
	}
	ended := map[string]bool{} // stages that buy no more comparisons; an interim analysis has the reason
	for l, err := range h.Ledger.Reader.Looks(ctx, run.No) {
		if err != nil {
			return out, err
		}
		ended[l.Stage] = l.Stop != store.StopNone
	}
	stocks, err := h.Ledger.Reader.Stocks(ctx, []int64{run.No})
	if err != nil {
		return out, err
	}
	left := map[store.Stock]int64{}
	for _, t := range stocks {
		n := t.Requests
		t.Requests = 0
		left[t] += n
	}
	earlier, err := earlierOf(ctx, h, want, run)
	if err != nil {
		return out, err
	}
	for _, part := range p.Parts {
		of, err := stockOf(part)
		if err != nil {
			return out, err
		}
		at := store.Share{Stage: part.Stage, Lane: part.Lane.Name}
		taken := min(left[of], part.Requests)
		if earlier != nil { // a lane that comes back has its answers there
			n, err := earlier.of(ctx, part)
			if err != nil {
				return out, err
			}
			taken = max(taken, n)
		}
		flying := min(away[at], part.Requests-taken)
		left[of] -= min(left[of], taken)
		if flying > 0 {
			away[at] -= flying
		}
		out.Exact = out.Exact && part.Turn == 1 && part.Verb == study.VerbAsk && !part.Gated
		fresh := part.Requests - taken - flying
		if out.Away += flying; ended[part.Stage] && taken > 0 { // what is left of it was not bought
			out.Over, fresh = out.Over+fresh, 0
		}
		out.add(part, taken, fresh)
	}
	return out, nil
}

// earlierOf returns the answers of a run that goes on and of those it was begun from; nil where there are no others.
func earlierOf(ctx context.Context, h *Home, want Wanted, run store.Run) (*heritage, error) {
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil || len(s.ReuseRuns) == 0 {
		return nil, err
	}
	runs := []store.Run{run}
	for _, id := range s.ReuseRuns {
		r, err := h.Ledger.Reader.FindRun(ctx, id, "")
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return heritageOf(ctx, h, want, runs)
}

// stockOf returns under what the answers to a part are counted.
func stockOf(part plan.Part) (store.Stock, error) {
	params, err := json.Marshal(part.Lane.Params)
	return store.Stock{Stage: part.Stage, Lane: part.Lane.Name, Provider: part.Lane.Provider, Model: part.Lane.Model,
		Params: string(params)}, err
}
