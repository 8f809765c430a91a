// Package quotes computes what it takes to resolve the difference of two lanes: comparisons or items, and their price.
package quotes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/report/words"
	"assay/internal/study"
)

// bothWays is how often --settle compares two lanes on an item.
const bothWays = 2

// SettlingChance is with which chance what is quoted settles a pair.
const SettlingChance = 0.8

// Offer is a quote for resolving the difference of two lanes that a stage of a run leaves open.
type Offer struct {
	rounds.Settle
	rounds.Settled
	Ends   bool        // nothing can be bought: see Why
	Why    string      // it is so
	Needed int         // comparisons for the usual chance, of those that are left
	Chance float64     // of what is bought
	Batch  assay.Cost  // of one comparison
	Live   assay.Cost  // the same, live
	Mode   assay.Mode  // in which the stage travels
	Items  int         // more of them are needed, where the two have met on all
	Cost   assay.Money // of what is bought
	Cut    bool        // the budget pays less than is needed
}

// Each returns what one comparison costs in the mode of the stage.
func (o Offer) Each() assay.Cost {
	if o.Mode == assay.ModeLive {
		return o.Live
	}
	return o.Batch
}

// Words returns what is bought for a run, for how much and with which chance, line by line.
func (o Offer) Words(run string) []string {
	most := o.Each()
	most.Sum += most.Sum / 2 // what is bought may cost so much, where the run has a budget
	out := []string{
		fmt.Sprintf("You pay now: %s (at most %s) for %s.", times(o.Each(), o.N), times(most, o.N), assay.Count(o.N, "new comparison")),
		fmt.Sprintf("run %s, stage %s: %s more of %s and %s settle which is better with a chance of about %.0f%%.", run, o.Stage,
			assay.Count(o.N, "comparison"), o.First, o.Second, 100*o.Chance),
	}
	if o.Cut {
		out = append(out, fmt.Sprintf("For %.0f%% it takes about %s: the budget pays for less.", 100*SettlingChance,
			assay.Thousands(o.Needed)))
	}
	if o.Items > 0 {
		out = append(out, fmt.Sprintf("The two have then met on every item, both ways round; for %.0f%% it takes about %s more.",
			100*SettlingChance, assay.Count(o.Items, "item")))
	}
	return append(out, fmt.Sprintf("That costs about %s as batches and %s live, by what comparisons took so far; this stage goes %s.",
		times(o.Batch, o.N), times(o.Live, o.N),
		map[assay.Mode]string{assay.ModeBatch: "in batches", assay.ModeLive: "live"}[o.Mode]),
		"It is a further look at the same verdicts: the chance of any false claim grows, and the tables say to how much.")
}

// times returns what so many cost.
func times(one assay.Cost, n int) string {
	if !one.Known() {
		return "an unknown sum"
	}
	return (one.Sum * assay.Money(n)).String()
}

// OfferOf returns a quote for resolving the difference of two lanes. Budget is the most that it may cost; nil:
// anything.
func OfferOf(ctx context.Context, r *results.Reader, run store.Run, w rounds.Settle, budget *assay.Money) (Offer, error) {
	s, err := r.Scripts.Open(ctx, run)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Settle: w}
	if o.Stage == "" {
		if o.Stage, err = comparedIn(s.Study(), w); err != nil {
			return o, err
		}
	}
	if st, ok := s.Study().Stage(o.Stage); ok && st.Verb() == study.VerbJudge {
		return o, &SettleError{Text: fmt.Sprintf("stage %s does not rank lanes %s and %s", o.Stage, w.First, w.Second), Single: true}
	}
	if err := s.Compares(o.Stage); err != nil {
		return o, &SettleError{Text: err.Error()}
	}
	if o.Settled, err = s.Settled(ctx, o.Settle); err != nil || o.Under {
		return o, err
	}
	o.Mode = s.ModeOf(o.Stage)
	if o.Batch, o.Live, err = s.CostOfOne(ctx, o.Stage); err != nil {
		return o, err
	}
	stood, err := findings.Leaderboard(ctx, r, run, o.Stage)
	if err != nil {
		return o, err
	}
	switch {
	case o.Known:
		o.Ends, o.Why = true, "they are told apart already"
		return o, nil
	case o.Bought:
		o.Ends, o.Why = true,
			"what this budget pays was bought and looked at, and did not settle it; a larger --budget buys more, and is a further look"
		return o, nil
	case stood == nil:
		o.Ends, o.Why = true, "there is no verdict yet"
		return o, nil
	}
	at := func(name string) int {
		for i, p := range stood.Places {
			if p.Name == name {
				return i
			}
		}
		return -1
	}
	q, ok := stood.Quote(at(w.First), at(w.Second))
	if !ok {
		o.Ends, o.Why = true, "they are told apart already, or too little is known about them"
		return o, nil
	}
	needed, sensible := q.Needed(SettlingChance)
	if !sensible {
		o.Ends, o.Why = true, "no sensible number of comparisons would: they are too close"
		return o, nil
	}
	st, _ := s.Study().Stage(o.Stage)
	each := s.VerdictsOfOne(o.Stage) // a quote counts what tables count
	if findings.Decided(s.Study(), st) {
		each = 1
	}
	o.N, o.Items = words.Comparisons(needed, each, o.Left, bothWays)
	o.Needed = o.N
	o.limit(budget)
	o.Chance = q.Chance(float64(max(1, o.N) * each))
	return o, nil
}

// limit cuts what is bought to a budget.
func (o *Offer) limit(budget *assay.Money) {
	each := o.Each()
	if budget != nil && !each.Known() {
		o.Ends, o.Why = true, "no price is known for one of its judges, so a budget cannot be kept"
		return
	}
	if budget != nil && each.Sum > 0 && assay.Money(o.N)*each.Sum > *budget {
		o.N, o.Cut = int(*budget/each.Sum), true
	}
	if o.Cost = each.Sum * assay.Money(o.N); o.N == 0 && !o.Ends {
		o.Ends, o.Why = true, "the budget does not pay for one comparison"
		if o.Left == 0 {
			o.Why = fmt.Sprintf("they have met on every item, both ways round: add about %s to the study", assay.Count(o.Items, "item"))
		}
	}
}

// comparedIn returns the stage that compares two lanes: there has to be one alone.
func comparedIn(s *study.Study, w rounds.Settle) (string, error) {
	var all []string
	for i := range s.Stages {
		st := &s.Stages[i]
		from, ok := s.Stage(st.Compare)
		if st.Verb() != study.VerbCompare || !ok {
			continue
		}
		var names []string
		for _, l := range s.Contestants(from) {
			names = append(names, l.Name)
		}
		if slices.Contains(names, w.First) && slices.Contains(names, w.Second) {
			all = append(all, st.Name)
		}
	}
	switch len(all) {
	case 0:
		return "", &SettleError{Text: fmt.Sprintf("no stage compares lane %s with lane %s, and none that judges ranks both", w.First,
			w.Second), Single: true}
	case 1:
		return all[0], nil
	}
	return "", &SettleError{Text: fmt.Sprintf("several stages compare %s with %s: %s", w.First, w.Second, strings.Join(all, ", ")),
		Hint: "name one of them with --stage"}
}

// SettleError is the reason why the difference of two lanes cannot be resolved.
type SettleError struct {
	Text, Hint string
	Single     bool // no stage compares them: more items may resolve the difference
}

// Error implements error.
func (e *SettleError) Error() string { return e.Text }

// ItemQuote is the number of further items that would resolve the difference of two lanes whose answers are judged one
// by one.
type ItemQuote struct {
	Stage  string
	Unit   string    // what items are called
	Needed int64     // more of them, for the usual chance; 0: see Why
	Why    string    // no number is known
	Cost   words.Fee // of them
	Input  string    // whose items they are
	Asked  int64     // items of it that the run has

	run      store.Run
	settings snapshot.Settings
}

// QuoteItems returns how many more items would resolve the difference of two lanes; false: no stage that judges ranks
// both.
func QuoteItems(ctx context.Context, r *results.Reader, run store.Run, w rounds.Settle) (ItemQuote, bool, error) {
	out := ItemQuote{run: run}
	if err := json.Unmarshal([]byte(run.Settings), &out.settings); err != nil {
		return out, false, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	found, err := findings.Of(ctx, r, run, findings.Query{})
	if err != nil {
		return out, false, err
	}
	doc, err := document.Outline(ctx, r, found)
	if err != nil {
		return out, false, err
	}
	q, apart, ranked := words.Settle(doc, w.Stage, w.First, w.Second)
	if !ranked {
		return out, false, nil
	}
	s, err := r.Scripts.Open(ctx, run)
	if err != nil {
		return out, false, err
	}
	st, _ := s.Study().Stage(q.Stage)
	out.Stage, out.Unit, out.Cost, out.Input = q.Stage, q.Unit, q.Likely.Cost, document.RootInput(s.Study(), st)
	for _, err := range r.Ledger.ItemHeads(ctx, run.No, out.Input) {
		if err != nil {
			return out, false, err
		}
		out.Asked++
	}
	switch {
	case apart:
		out.Why = "they are told apart already"
	case q.Items == 0 || out.Asked == 0:
		out.Why = "too little is known about them"
	case !q.Likely.Known:
		out.Why = "no sensible number of " + q.Unit + "s would: they are too close"
	default:
		out.Needed = int64(q.Likely.Rounded())
	}
	return out, true, nil
}

// Limited reports whether the run was told to ask about the first items of each input alone.
func (q ItemQuote) Limited() bool { return q.settings.Limit > 0 }

// RerunWith returns the command that runs the study of a quote with another limit on items (0: without one) and another
// setting of the study (empty: none), typed in a folder.
func RerunWith(r *results.Reader, q ItemQuote, limit int64, set, dir string) string {
	q.settings.Limit = int(limit)
	if path, _, some := strings.Cut(set, "="); some {
		old := func(have string) bool { return strings.HasPrefix(have, path+"=") }
		q.settings.Set = append(slices.DeleteFunc(slices.Clone(q.settings.Set), old), set)
	}
	return r.RerunWith(q.run, q.settings, dir)
}
