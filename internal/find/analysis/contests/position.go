package contests

import (
	"iter"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// swap holds all verdicts on one pair on one thing, in both orders, from the side of the name that sorts first: as text, as
// directions in the ledger do, and not by size where names are numbers.
type swap struct {
	cluster     uint32
	low, high   uint16
	forth, back votes // shown first, shown second
}

// votes counts votes: several where a judge was asked more than once.
type votes struct{ won, lost, tied uint16 }

// count enters a vote; turned: the one whose name sorts second was shown first.
func (w *swap) count(turned bool, r stats.Result) {
	to, won, lost := &w.forth, stats.FirstWon, stats.SecondWon
	if turned {
		to, won, lost = &w.back, lost, won
	}
	switch r {
	case won:
		to.won++
	case lost:
		to.lost++
	default:
		to.tied++
	}
}

func (w *swap) bothWays() bool { return w.forth.there() && w.back.there() }

func (s votes) there() bool { return s != votes{} }

// decided is the majority of the votes that decide; false where there is none.
func (s votes) decided() (won, ok bool) { return s.won > s.lost, s.won != s.lost }

// score returns the majority as a score: a half where no side has one.
func (s votes) score() float64 {
	switch won, ok := s.decided(); {
	case !ok:
		return 0.5
	case won:
		return 1
	}
	return 0
}

// disagrees reports whether the two orders disagree, ties included.
func (w *swap) disagrees() bool { return w.bothWays() && w.forth.score() != w.back.score() }

// swap returns the verdicts on a pair, before any is counted.
func (a *arena) swap(first, second uint16, cluster uint32) swap {
	if a.names[first] > a.names[second] {
		first, second = second, first
	}
	return swap{cluster: cluster, low: first, high: second}
}

// swaps returns the pairs, each on one thing, cluster by cluster.
func (a *arena) swaps() iter.Seq[swap] {
	return func(yield func(swap) bool) {
		var w swap
		for k, cluster := range a.byCluster {
			begins := a.begins[k]&aPair > 0
			if begins && k > 0 && !yield(w) {
				return
			}
			first, second := a.pairs.First[k], a.pairs.Second[k]
			if begins {
				w = a.swap(first, second, cluster)
			}
			w.count(first != w.low, a.pairs.Result[k])
		}
		if len(a.begins) > 0 {
			yield(w)
		}
	}
}

// turnedRound counts the pairs that were judged in both orders, and those without the other order.
func (a *arena) turnedRound() (both, alone int) {
	for w := range a.swaps() {
		if w.bothWays() {
			both++
		} else {
			alone++
		}
	}
	return both, alone
}

// position reports whether the one shown first wins more often: as a share that is tested by the method of its
// interval, and as a parameter beside the strengths.
func (a *arena) position(t *analysis.Table) error {
	f := a.finding(analysis.WhatFirst, analysis.Share, -1, "")
	e, k, n, err := a.firstWins()
	if err != nil {
		return err
	}
	e.Put(f)
	f.P = e.P
	if n == 0 {
		f.P = stats.Undefined("every comparison is a tie")
	} else if exact := stats.BinomialTest(k, n, 0.5); exact.OK {
		f.Note("were all comparisons independent, an exact binomial test would give p = %.2g; ties are left out", exact.Value)
	}
	t.Findings = append(t.Findings, *f)
	if !a.bothWays {
		t.Note("each pair was shown in one order: who stood first and who is better cannot be told apart")
		return nil
	}
	fit, err := a.fit(stats.BTOptions{Order: true, Ties: tiesOf(a.ties)})
	order := a.finding(analysis.WhatOrder, analysis.Logit, -1, "")
	if err != nil {
		t.Findings = append(t.Findings, order.Unknown("%s", err))
		return nil
	}
	order.Value, order.SE, order.Interval, order.P, order.Method = fit.Order, fit.orderSE, fit.orderInterval, fit.orderP,
		"beside strengths, "+fit.how
	fit.writeTo(order)
	t.Findings = append(t.Findings, *order)
	return nil
}

// yeses are a stats.Count of half its size, for millions of clusters: how often something was so in one, of how often it could have been.
type yeses struct{ yes, of int32 }

func (c *yeses) add(yes bool) { c.yes, c.of = c.yes+gather.One(yes), c.of+1 }

// counts returns a place to count in for each cluster, all zero. There is room for one such list: what was counted before is lost.
func (a *arena) counts() []yeses {
	if a.counted == nil {
		a.counted = make([]yeses, a.clusters)
	}
	clear(a.counted)
	return a.counted
}

// each walks over what was counted.
func each(counts []yeses) iter.Seq[stats.Count] {
	return func(yield func(stats.Count) bool) {
		for _, c := range counts {
			if !yield(stats.Count{K: int(c.yes), N: int(c.of)}) {
				return
			}
		}
	}
}

// firstWins estimates the share of decided comparisons that the one shown first won, which are k of n.
func (a *arena) firstWins() (e gather.Estimate, k, n int, err error) {
	counts := a.counts()
	for i, c := range a.byCluster {
		if r := a.pairs.Result[i]; r != stats.Tied {
			counts[c].add(r == stats.FirstWon)
			k, n = k+int(gather.One(r == stats.FirstWon)), n+1
		}
	}
	e, err = gather.Share(each(counts), a.Options.Level)
	return e, k, n, err
}

// shownFirst returns what the order of showing did, for the leaderboard; nil where nothing was decided.
func (a *arena) shownFirst() *analysis.ShownFirst {
	e, _, n, err := a.firstWins()
	if err != nil || n == 0 {
		return nil
	}
	out := &analysis.ShownFirst{First: e.Value, P: e.P, OneOrder: !a.bothWays, Same: stats.Undefined("no pair was judged in both orders")}
	same, pairs := a.counts(), 0
	for w := range a.swaps() {
		forth, one := w.forth.decided()
		back, other := w.back.decided()
		if w.bothWays() && one && other {
			pairs++
			same[w.cluster].add(forth == back)
		}
	}
	if e, err := gather.Share(each(same), a.Options.Level); err == nil && pairs > 0 {
		out.Same, out.Turns = e.Value, e.Interval.OK && e.Interval.High < 0.5
	}
	return out
}

func tiesOf(n int) stats.Ties {
	if n > 0 {
		return stats.Davidson
	}
	return stats.HalfTies
}

// manyPairs is from where fewer resamples do.
const manyPairs = 50_000

// consistency reports how often the same one wins when the order is turned round: by the majority of each order, among
// the pairs that have one in both.
func (a *arena) consistency(t *analysis.Table) error {
	counts := a.counts()
	var c reversed
	for w := range a.swaps() {
		if w.bothWays() {
			c.add(w, &counts[w.cluster])
		}
	}
	f := a.finding(analysis.WhatConsistency, analysis.Share, -1, "")
	f.N = c.pairs
	if c.pairs == 0 {
		t.Findings = append(t.Findings, f.Unknown("no pair was decided both ways"))
		return nil
	}
	counts = slices.DeleteFunc(counts, func(c yeses) bool { return c.of == 0 })
	resamples := a.Options.Resamples
	if len(counts) > manyPairs {
		resamples = min(resamples, 200)
	}
	boot, err := stats.BootstrapRate(each(counts), resamples, a.Options.Seed)
	if err != nil {
		return err
	}
	f.Value, f.Interval, f.Clusters, f.Method = stats.Known(float64(c.same)/float64(c.pairs)), boot.Interval(a.Options.Level), len(counts),
		"bootstrap of clusters"
	f.SE = boot.SE()
	alike := f.Interval.OK && f.Interval.Low == f.Interval.High // so are all resamples, which is no certainty
	if alike || len(counts) < stats.FewClusters {               // percentiles of few clusters are too narrow
		e, err := gather.Share(each(counts), a.Options.Level)
		if err != nil {
			return err
		}
		if f.Interval.OK && !alike {
			f.Note("bootstrap of clusters: %s to %s", analysis.Share.Show(f.Interval.Low), analysis.Share.Show(f.Interval.High))
		}
		e.Put(f)
	}
	f.Note("of %s, %d went to the first and %d to the second place", analysis.Plural(c.pairs-c.same, "inconsistent pair"), c.first,
		c.pairs-c.same-c.first)
	if c.open > 0 {
		f.Note("%s without a majority left out", analysis.Plural(c.open, "pair"))
	}
	t.Findings = append(t.Findings, *f)
	for _, x := range []struct {
		what string
		k, n int
		note string
	}{
		{analysis.WhatFirstMain, c.main, c.pairs, "position and which of the two is better are not told apart"},
		{analysis.WhatFirstBack, c.back, c.pairs, "position and which of the two is better are not told apart"},
		{analysis.WhatFirstBoth, c.main + c.back, 2 * c.pairs, "as if the two orders were independent"},
	} {
		first := a.finding(x.what, analysis.Share, -1, "")
		first.Value, first.P, first.N, first.Clusters = stats.Known(float64(x.k)/float64(x.n)), stats.BinomialTest(x.k, x.n, 0.5),
			x.n, len(counts)
		first.Interval, first.Method = stats.Exact(x.k, x.n, a.Options.Level), "exact binomial, Clopper-Pearson"
		first.SE = stats.NewRate(x.k, x.n, a.Options.Level).SE()
		first.Note("%s", x.note)
		t.Findings = append(t.Findings, *first)
	}
	a.disagreed(t)
	return a.selfAgreement(t)
}

// reversed counts pairs that were judged in both orders.
type reversed struct {
	pairs int // decided both ways
	same  int // of them, the same one won
	first int // of the others, the one shown first won twice
	main  int // where the name that sorts first was shown first, the one shown first won
	back  int // in the other order, likewise
	open  int // without a majority in a direction
}

func (c *reversed) add(w swap, in *yeses) {
	forth, ok := w.forth.decided()
	back, too := w.back.decided()
	if !ok || !too {
		c.open++
		return
	}
	c.pairs++
	in.add(forth == back)
	if forth == back {
		c.same++
	} else if forth {
		c.first++
	}
	c.main, c.back = c.main+int(gather.One(forth)), c.back+int(gather.One(!back))
}

// selfAgreement compares both orders of each pair, ties included.
func (a *arena) selfAgreement(t *analysis.Table) error {
	var forth, back []int8 // twice the scores
	counts := a.counts()
	for w := range a.swaps() {
		if w.bothWays() {
			x, y := w.forth.score(), w.back.score()
			forth, back = append(forth, int8(2*x)), append(back, int8(2*y))
			counts[w.cluster].add(x == y)
		}
	}
	same := a.finding(analysis.WhatSame, analysis.Share, -1, "")
	e, err := gather.Share(each(counts), a.Options.Level)
	if err != nil {
		return err
	}
	e.Put(same)
	correlation := a.finding(analysis.WhatCorrelation, analysis.Index, -1, "")
	correlation.Value, correlation.N, correlation.Clusters = stats.Pearson(forth, back), same.N, same.Clusters
	correlation.Method, correlation.Interval = "Pearson", stats.NoInterval("not computed")
	t.Findings = append(t.Findings, *same, *correlation)
	return nil
}

// maxDisagreed is how many pairs are listed.
const maxDisagreed = 10_000

// tiedText is the text of a tie.
const tiedText = "tie"

// disagreed lists the pairs whose two orders disagree, ties included.
func (a *arena) disagreed(t *analysis.Table) {
	var items, kinds []uint32 // back from places to numbers, where there is anything to list
	left, listed := 0, len(t.Disagreed)
	for w := range a.swaps() {
		if !w.disagrees() {
			continue
		}
		x, y := w.forth.score(), w.back.score()
		if len(t.Disagreed) >= maxDisagreed {
			left++
			continue
		}
		if items == nil {
			items, kinds = gather.Ranks(a.Known.ByLength()), gather.Ranks(a.kinds.ByText())
		}
		s := a.apart[len(t.Disagreed)-listed]
		k := a.kindOf[kinds[s.kind]]
		d := analysis.Disagreed{
			By: a.by, Item: a.Known.Text(items[s.item]), First: a.names[w.low], Second: a.names[w.high], Judge: k.judge, Trait: k.trait,
			Prompt: k.prompt, Template: k.template, Branch: k.branch, Turn: k.turn, Draw: k.draw, Forth: tiedText, Back: tiedText,
		}
		for _, won := range []struct {
			score float64
			who   *string
		}{{x, &d.Forth}, {y, &d.Back}} {
			switch won.score {
			case 1:
				*won.who = d.First
			case 0:
				*won.who = d.Second
			}
		}
		t.Disagreed = append(t.Disagreed, d)
	}
	if left > 0 {
		t.Note("%s whose two orders disagree not listed", analysis.Plural(left, "more pair"))
	}
}
