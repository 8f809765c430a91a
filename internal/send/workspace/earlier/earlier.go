// Package earlier finds out how much of a plan has its answer in earlier runs, before anything is sent.
package earlier

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Plan is the work that may have its answers already, and what else is needed to compare it.
type Plan struct {
	Input    *plan.Input
	Limit    int
	Ledger   *read.Reader
	BaseURL  func(provider string) (string, error)
	Reworded func(ctx context.Context, since store.Run) (map[string]bool, error) // stages
}

// Answers are the answers of earlier runs that a new run may take over. They hold 48 bytes for each answer to a first
// request; answers that depend on those are read when they are counted.
type Answers struct {
	of     Plan
	hashed maphash.Seed
	runs   []store.Run               // the newest first
	firsts []firstAnswer             // by what was asked and by key, then as the runs are
	later  map[store.Stock]int64     // answers that depend on others which are taken over; nil: not counted yet
	anew   map[int64]map[string]bool // by run: stages that are reworded since
	lanes  map[string]bool           // that were asked; those of imported answers are not compared
	taken  map[uint64]bool           // first answers that are taken over, by subject
}

// question is a request that is known before any answer is there.
type question struct {
	asked uint64 // hash of what is asked
	key   assay.Key
}

func (q question) compare(with question) int {
	return cmp.Or(cmp.Compare(q.asked, with.asked), bytes.Compare(q.key[:], with.key[:]))
}

// firstAnswer is an answer of an earlier run to such a request.
type firstAnswer struct {
	question
	run     int64
	from    int64  // the run that it was taken over from; 0: it was asked there
	subject uint64 // hash
}

// subject is an answer of a lane about an item of an earlier run.
type subject struct {
	run        int64
	item, lane string
}

// Read reads what runs have answered, the newest first.
func Read(ctx context.Context, p Plan, runs []store.Run) (*Answers, error) {
	old := &Answers{of: p, hashed: maphash.MakeSeed(), runs: runs, anew: map[int64]map[string]bool{}, lanes: map[string]bool{},
		taken: map[uint64]bool{}}
	for _, r := range runs {
		var err error
		if old.anew[r.No], err = p.Reworded(ctx, r); err != nil {
			return nil, err
		}
		for a, err := range p.Ledger.CurrentAnswers(ctx, r.No) {
			if err != nil {
				return nil, err
			}
			if a.At.Judge == "" && len(a.Digest) > 0 {
				old.lanes[a.At.Lane] = true
			}
			if a.At.Turn <= 1 {
				old.firsts = append(old.firsts, firstAnswer{question{maphash.Bytes(old.hashed, a.Digest), a.Key}, r.No, a.Reused,
					old.subject(r.No, a.At.Item, a.At.Lane)})
			}
		}
	}
	slices.SortStableFunc(old.firsts, func(a, b firstAnswer) int { return a.compare(b.question) })
	return old, nil
}

func (o *Answers) subject(run int64, item, lane string) uint64 {
	return maphash.Comparable(o.hashed, subject{run, item, lane})
}

// Have returns how many requests of a part have an answer that is taken over.
func (o *Answers) Have(ctx context.Context, part plan.Part) (int64, error) {
	if Known(o.of.Input, part) {
		return o.equal(ctx, part)
	}
	if o.later == nil {
		if err := o.depend(ctx); err != nil {
			return 0, err
		}
	}
	of, err := StockOf(part)
	if err != nil {
		return 0, err
	}
	n := min(o.later[of], part.Requests)
	o.later[of] -= n
	return n, nil
}

// equal compares the requests of a part with what was asked before: an answer under the same key is taken first, else one
// under a key that is not asked again.
func (o *Answers) equal(ctx context.Context, part plan.Part) (int64, error) {
	d := o.of.Input
	st, _ := d.Study.Stage(part.Stage)
	l, ok := d.Study.Lane(part.Lane.Name)
	if !ok {
		return 0, nil
	}
	base, err := o.of.BaseURL(l.Provider)
	if err != nil { // reported where the run is begun
		return 0, nil
	}
	var asked []question // those that were asked before
	for f, err := range d.First(ctx, st, l, plan.Options{Limit: o.of.Limit}) {
		if err != nil {
			return 0, err
		}
		params, err := json.Marshal(f.Lane.Params)
		if err != nil {
			return 0, err
		}
		q := question{maphash.Bytes(o.hashed, f.Digest(base, params, f.Coordinates.Draw)), f.Key}
		if at := o.firstTo(q.asked); at < len(o.firsts) && o.firsts[at].asked == q.asked {
			asked = append(asked, q)
		}
	}
	slices.SortFunc(asked, question.compare)
	n := int64(0)
	for len(asked) > 0 {
		sum := asked[0].asked
		equal := leading(asked, func(q question) bool { return q.asked == sum })
		n += o.match(leading(o.firsts[o.firstTo(sum):], func(a firstAnswer) bool { return a.asked == sum }), equal)
		asked = asked[len(equal):]
	}
	return min(n, part.Requests), nil
}

// firstTo returns the place of the first answer to a question.
func (o *Answers) firstTo(asked uint64) int {
	at, _ := slices.BinarySearchFunc(o.firsts, asked, func(a firstAnswer, asked uint64) int { return cmp.Compare(a.asked, asked) })
	return at
}

// leading returns the elements at the start of a list for which a condition holds.
func leading[T any](list []T, holds func(T) bool) []T {
	if i := slices.IndexFunc(list, func(e T) bool { return !holds(e) }); i >= 0 {
		return list[:i]
	}
	return list
}

// match takes answers to one question for some requests, and returns for how many there is one.
func (o *Answers) match(answers []firstAnswer, asked []question) int64 {
	left := len(asked)
	var spare []firstAnswer // under keys that are not asked again
	for len(answers) > 0 {
		key := answers[0].key
		equal := leading(answers, func(a firstAnswer) bool { return a.key == key })
		answers = answers[len(equal):]
		if _, again := slices.BinarySearchFunc(asked, equal[0].question, question.compare); again {
			o.take(equal)
			left--
		} else if own := slices.IndexFunc(equal, func(a firstAnswer) bool { return a.from == 0 }); own >= 0 {
			spare = append(spare, equal[own])
		}
	}
	spare = spare[:min(left, len(spare))]
	for _, a := range spare {
		o.taken[a.subject] = true
	}
	return int64(len(asked) - left + len(spare))
}

// take takes the first of the answers under a key, for a request under the same key, and with it the run it came from.
func (o *Answers) take(equal []firstAnswer) {
	for at := 0; at >= 0; {
		o.taken[equal[at].subject] = true
		from := equal[at].from
		at = slices.IndexFunc(equal, func(a firstAnswer) bool { return a.run == from })
	}
}

// depend counts the later answers whose subjects are taken over, each request once.
func (o *Answers) depend(ctx context.Context) error {
	o.later = map[store.Stock]int64{}
	same, err := o.sameItems(ctx)
	if err != nil {
		return err
	}
	verbs := map[string]study.Verb{}
	for i := range o.of.Input.Study.Stages {
		st := &o.of.Input.Study.Stages[i]
		verbs[st.Name] = st.Verb()
	}
	seen, both := map[uint64]bool{}, []byte(nil) // hashes of keys and of what was asked under them
	for _, run := range o.runs {
		drawn := map[string]bool{} // stages of the study: whether it draws the pairs of the run now, too
		for i := range o.of.Input.Study.Stages {
			st := &o.of.Input.Study.Stages[i]
			if drawn[st.Name], err = o.drawsAlike(ctx, run.No, st, same); err != nil {
				return err
			}
		}
		for a, err := range o.of.Ledger.CurrentAnswers(ctx, run.No) {
			if err != nil {
				return err
			}
			if !drawn[a.At.Stage] || verbs[a.At.Stage] == study.VerbAsk && a.At.Turn == 1 { // the latter was compared
				continue
			}
			both = append(append(both[:0], a.Key[:]...), a.Digest...)
			key := maphash.Bytes(o.hashed, both)
			if !seen[key] && same.shows(a, verbs[a.At.Stage]) && o.dependsOnTaken(a) {
				seen[key] = true
				o.later[store.Stock{Stage: a.At.Stage, Lane: a.Lane, Provider: a.Provider, Model: a.Model, Params: a.Params}]++
			}
		}
	}
	return nil
}

// drawsAlike reports whether the study draws the pairs of a stage now as an earlier run did: from as many items, and of the same
// lanes. Stages that draw none do.
func (o *Answers) drawsAlike(ctx context.Context, run int64, st *study.Stage, same sameness) (bool, error) {
	if st.Verb() != study.VerbCompare || st.Pairs != nil && st.Pairs.File.File != "" {
		return true, nil
	}
	if !same.many[run] {
		return false, nil
	}
	var now, then []string
	for _, need := range st.Needs() {
		if from, ok := o.of.Input.Study.Stage(need); ok {
			for _, l := range o.of.Input.Study.Contestants(from) {
				now = append(now, l.Name)
			}
		}
	}
	lanes, err := o.of.Ledger.Lanes(ctx, run)
	for _, l := range lanes {
		if slices.Contains(st.Needs(), l.Stage) && !slices.Contains(then, l.Name) {
			then = append(then, l.Name)
		}
	}
	slices.Sort(now)
	slices.Sort(then)
	return slices.Equal(slices.Compact(now), then), err
}

// dependsOnTaken reports whether the answers that a later one is about are taken over, and its stage is not reworded.
func (o *Answers) dependsOnTaken(later store.CurrentAnswer) bool {
	at := later.At
	return !o.anew[later.Run][at.Stage] && o.has(later, at.Lane) && (at.Against == "" || at.Lane == "" || o.has(later, at.Against))
}

// has reports whether the answer of a lane that a later one is about is taken over, as far as it was compared.
func (o *Answers) has(later store.CurrentAnswer, lane string) bool {
	return lane == "" || !o.lanes[lane] || o.taken[o.subject(later.Run, later.At.Item, lane)]
}

// sameness tells which items of earlier runs the study still has.
type sameness struct {
	has  map[subject]bool // items that the study has with the same contents, under this or another id
	at   map[subject]bool // of these, items in the same place
	many map[int64]bool   // runs that have as many items as the study
}

// shows reports whether the study has what a later answer is about; of a comparison, in the same place, since pairs are drawn by places.
func (s sameness) shows(a store.CurrentAnswer, verb study.Verb) bool {
	about := subject{run: a.Run, item: a.At.Item}
	if verb != study.VerbCompare {
		return s.has[about]
	}
	return s.at[about] && (a.At.Lane != "" || s.at[subject{run: a.Run, item: a.At.Against}])
}

// sameItems compares the items of earlier runs with those of the study.
func (o *Answers) sameItems(ctx context.Context) (sameness, error) {
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
	out := sameness{has: map[subject]bool{}, at: map[subject]bool{}, many: map[int64]bool{}}
	for run := range o.anew {
		out.many[run] = true
	}
	for _, in := range o.of.Input.Study.Inputs {
		now, order := map[uint64]bool{}, []uint64(nil)
		err := each(o.of.Input.FirstItems(ctx, in.Name, o.of.Limit), func(_ assay.Item, sum uint64) {
			now[sum], order = true, append(order, sum)
		})
		for run := range o.anew {
			n := 0
			err = errors.Join(err, each(o.of.Ledger.Items(ctx, run, in.Name), func(it assay.Item, sum uint64) {
				one := subject{run: run, item: it.ID}
				out.has[one] = out.has[one] || now[sum]
				out.at[one] = out.at[one] || n < len(order) && order[n] == sum
				n++
			}))
			out.many[run] = out.many[run] && n == len(order)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// Known reports whether the requests of a part are known before any answer is there.
func Known(d *plan.Input, part plan.Part) bool {
	st, ok := d.Study.Stage(part.Stage)
	return ok && part.Turn == 1 && (part.Verb == study.VerbAsk || part.Verb == study.VerbCompare && part.Exact && len(st.Judges.List) > 0 &&
		d.Known != nil)
}

// StockOf returns under what the answers to a part are counted.
func StockOf(part plan.Part) (store.Stock, error) {
	params, err := json.Marshal(part.Lane.Params)
	return store.Stock{Stage: part.Stage, Lane: part.Lane.Name, Provider: part.Lane.Provider, Model: part.Lane.Model,
		Params: string(params)}, err
}
