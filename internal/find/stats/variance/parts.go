// Package variance splits the variance of verdicts into parts: items, templates, judges, how these meet, draws, and the rest.
//
// Parts are estimated by restricted maximum likelihood (REML), balanced or not. Their errors come from clusters, whatever the
// distribution of verdicts is; those of templates and judges, of which there are few, from their number.
package variance

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"assay/internal/find/stats"
)

// Value is a verdict, and where it was found. All numbers are dense, from 0.
type Value struct {
	Unit     int32 // what is asked: an item
	Cluster  int32 // of the unit
	Template int32
	Draw     int32
	Judge    int32
	Value    float64
}

// Kind is a part of the variance.
type Kind int

// The kinds, from the whole of a unit to a single verdict.
const (
	Items         Kind = iota // units differ
	Templates                 // templates differ, for all items alike
	Judges                    // judges differ, for all items alike
	ItemTemplates             // an item gains by one template, another one by another
	ItemJudges                // judges see items differently
	Draws                     // answers to the same question differ
	Readings                  // judges see answers to the same question differently
	Repeats                   // a judge that is asked twice about the same answer
)

// String returns the name of a part.
func (k Kind) String() string {
	return [...]string{"items", "templates", "judges", "items by templates", "items by judges", "draws", "readings", "repeats"}[k]
}

// Part is one part of the variance.
type Part struct {
	Kind     Kind
	With     []Kind // parts that the design does not tell apart from it
	Value    stats.Number
	SE       stats.Number
	Interval stats.Interval
	Levels   int // that it was estimated from
}

// Parts is where the variance of verdicts comes from.
type Parts struct {
	Mean     stats.Number // over all verdicts, as the fit weighs them
	Units    int
	Clusters int
	Verdicts int
	Answers  int // that were judged
	Used     int // units that parts were estimated from, where there are too many for all
	Parts    []Part
	Why      string // why there are none; empty: there are

	templates, judges       int
	asked, answered, judged float64 // templates of a unit, answers to a question, verdicts on an answer: means
	covariance              map[[2]Kind]float64
}

// Share returns how much of all variance is of a part, with its error by the delta method and an interval on the scale of log odds.
func (p *Parts) Share(of int, level float64) (share, se stats.Number, in stats.Interval) {
	total, errors := 0.0, 0.0
	for _, x := range p.Parts {
		total += x.Value.Value
	}
	at := p.Parts[of].Value.Value / total
	slope := func(i int) float64 {
		if i == of {
			return (1 - at) / total
		}
		return -at / total
	}
	for i, x := range p.Parts {
		for j, y := range p.Parts {
			errors += slope(i) * slope(j) * p.covariance[[2]Kind{x.Kind, y.Kind}]
		}
	}
	share, se = stats.Known(at), stats.Known(math.Sqrt(max(0, errors)))
	switch {
	case at <= 0 || at >= 1:
		return share, se, stats.NoInterval("all of the variance, or none of it")
	case p.templates > 1 || p.judges > 1:
		return share, se, stats.NoInterval("of few templates or judges no interval of a share holds")
	}
	odds := stats.StudentInterval(math.Log(at/(1-at)), se.Value/(at*(1-at)), level, p.Clusters)
	if !odds.OK {
		return share, se, odds
	}
	return share, se, stats.Between(1/(1+math.Exp(-odds.Low)), 1/(1+math.Exp(-odds.High)))
}

// of returns the size of a part; 0: the design has none, or it is within another one.
func (p *Parts) of(k Kind) float64 {
	for _, x := range p.Parts {
		if x.Kind == k {
			return x.Value.Value
		}
	}
	return 0
}

// has reports whether a part was told apart from all others.
func (p *Parts) has(k Kind) bool {
	for _, x := range p.Parts {
		if x.Kind == k && len(x.With) == 0 {
			return true
		}
	}
	return false
}

// Error returns the standard error of the mean, if items, templates and judges are samples of those that there are, with so
// many times as many items, templates, draws and judges.
func (p *Parts) Error(items, templates, draws, judges float64) float64 {
	i, t, d, j := items*float64(p.Units), templates*p.asked, draws*p.answered, judges*p.judged
	sum := p.of(Items)/i + p.of(ItemTemplates)/(i*t) + p.of(ItemJudges)/(i*j) + p.of(Draws)/(i*t*d) +
		(p.of(Readings)+p.of(Repeats))/(i*t*d*j) + p.of(Templates)/(templates*float64(p.templates)) +
		p.of(Judges)/(judges*float64(p.judges))
	return math.Sqrt(sum)
}

// Purchase is more of one thing, for as much money as was spent.
type Purchase struct {
	More  Kind    // Items, Templates, Draws or Judges
	Times float64 // as many as there are
	Error float64 // of the mean, afterwards
}

// Buy returns what as much money again would buy, the most useful first: items, draws, templates or judges, as far as the design
// shows what they are worth. Answers and verdicts are what all of them cost so far; 0: it is not known.
func (p *Parts) Buy(answers, verdicts float64) []Purchase {
	out := []Purchase{{Items, 2, p.Error(2, 1, 1, 1)}}
	if p.has(Draws) {
		out = append(out, Purchase{Draws, 2, p.Error(1, 1, 2, 1)})
	}
	if p.templates > 1 {
		out = append(out, Purchase{Templates, 2, p.Error(1, 2, 1, 1)})
	}
	if p.judges > 1 && verdicts > 0 {
		times := 2 + answers/verdicts // answers are there already
		out = append(out, Purchase{Judges, times, p.Error(1, 1, 1, times)})
	}
	for i := range out { // few: by insertion, those before first where errors are as good as equal
		for k := i; k > 0 && out[k].Error < 0.99*out[k-1].Error; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// interval returns where a variance lies: that of what was seen (with as much besides as belongs to its error) by chi-square.
func interval(value, seen, df, level float64) stats.Interval {
	besides := seen - value
	bound := func(p float64) float64 {
		return max(0, seen*df/(2*mathext.GammaIncRegInv(df/2, p))-besides)
	}
	if math.IsInf(df, 0) {
		return stats.NoInterval(stats.AlikeClusters)
	}
	if high := bound((1 - level) / 2); high < 1e6*seen {
		return stats.Between(bound((1+level)/2), high)
	}
	return stats.NoInterval("too few clusters to tell how large it may be")
}
