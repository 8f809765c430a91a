package analysis

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// JuryName is the name of the judge where several decide together, and JuryUnanimous how they do where all have to agree.
const (
	JuryName      = "jury"
	JuryUnanimous = "unanimous"
)

// MeanName is the name under which several judges that decide nothing together are checked: numbers are the mean of what they say.
const MeanName = "mean of judges"

// Checked is how far a judge was checked by people's labels on answers that were drawn, and what they correct.
type Checked struct {
	State    checked.State
	Pairs    bool // labels are on pairs of answers, and values are shares of wins
	Shares   bool // values are shares, of yes or of wins; else scores
	Given    int  // labels on what the judge judged, of whole items or not
	Items    int  // with all of their labels
	Frame    int  // items that may be drawn; 0: the labels came with the probabilities of their answers
	Fewest   int  // labelled clusters that it takes
	Clusters int  // labelled ones
	Labels   int  // on those of the last planned look, else on all
	Next     int  // labelled items at which numbers are corrected next; 0: they are
	// Chosen: the labels were not drawn, they are shown and correct nothing.
	Chosen bool
	// Earlier is how many labels were given before the judge's prompt changed: what may have led the change does not test it.
	Earlier int
	// Sum is how many items the probabilities add up to that labels came with, where that is not how many were judged; 0: it is.
	Sum int
	// Declared: the labels came with the probabilities of their answers, and were not drawn here.
	Declared bool
	// Each is how far each of several judges was checked whose mean this is.
	Each []JudgeChecked
	// Why says why labels check each judge, and nothing is corrected; empty: it may be.
	Why string
	// Of so many items are the numbers that are corrected, because of those that came later too few are labelled; 0: of all.
	About, Later int
	// LeftOut is how many items were left out because a person could not tell.
	LeftOut int

	Agrees         stats.Number // share of labels on which judge and people agree; of scores it is not known
	AgreesInterval stats.Interval
	Error          stats.Number // at the last planned look
	ErrorInterval  stats.Interval
	Bias           stats.Number // by how much the judge's word exceeds people's
	BiasInterval   stats.Interval
	Sure           int          // labels on answers of which the judge told how sure it is
	Over           stats.Number // by how much it is surer than it is right; not OK: it does not tell
	OverInterval   stats.Interval
	Alike          stats.Number // p-value of a judge that errs alike on all lanes
	Favours        []checked.Favour
	OnLanes        []LaneError // as it errs on each of the labelled lanes
	sample         *checked.Sample
	Bounds         []stats.Interval // of lanes, where labels are incomplete: whatever was left out

	Lanes     []string
	Corrected *checked.Corrected // at the last planned look; nil: none was reached
	claims    map[[2]int]float64 // p-values over all looks, each worth what its look may spend
	// First is the same of the first answers of conversations alone; nil: too few of them are labelled.
	First *Checked
}

// Refuse lets labels correct nothing that declare a sample which they are not.
func (c *Checked) Refuse(a checked.Apart) {
	c.State, c.Corrected, c.First = checked.Unchecked, nil, nil
	c.Why = fmt.Sprintf("the file declares a sample of the answers, and its labels are unlike them: the judge's mean is %s on "+
		"the labelled and %s on all (p = %.2g), so they correct nothing", c.Unit().Show(a.Labelled), c.Unit().Show(a.All), a.P.Value)
}

// Outgrown lets labels correct nothing whose probabilities are those of fewer items than are judged.
func (c *Checked) Outgrown(declared, judged int) {
	c.State, c.Corrected, c.First = checked.Unchecked, nil, nil
	c.Why = fmt.Sprintf("the file declares a sample of %s, and %d are judged: labels on the others, with the probabilities of all, "+
		"are missing, so they correct nothing", Plural(declared, "item"), judged)
}

// JudgeChecked is how far one of several judges was checked.
type JudgeChecked struct {
	Judge   string
	Checked *Checked
}

// LaneError is how a judge errs on one lane, at the last planned look.
type LaneError struct {
	Lane             int
	Labels, Clusters int
	Error            stats.Number // as of all lanes
	ErrorInterval    stats.Interval
	Bias             stats.Number
	BiasInterval     stats.Interval
	Favour           checked.Favour
	FavourInterval   stats.Interval
}

// ErrsOn enters how the judge errs on each lane that has labels. Of pairs, errors are those on each of them.
func (c *Checked) ErrsOn(s, errors *checked.Sample, scale checked.Scale, level float64) {
	c.sample = s
	c.Alike, c.Favours = s.Favours()
	_, all := s.Labelled()
	for _, f := range c.Favours {
		own := errors.OnLane(f.Lane)
		e := LaneError{Lane: f.Lane, Favour: f, FavourInterval: stats.StudentInterval(f.Value.Value, f.SE.Value, level, all)}
		e.Labels, e.Clusters = own.Labelled()
		e.Error, e.ErrorInterval = own.ErrorRate(scale, level)
		e.Bias, e.BiasInterval = own.Bias(level)
		c.OnLanes = append(c.OnLanes, e)
	}
}

// FavoursSome returns by how much the judge favours some lanes over the others.
func (c *Checked) FavoursSome(some func(lane string) bool, level float64) (value, se stats.Number, in stats.Interval) {
	value, se = c.sample.FavoursSome(func(lane int) bool { return some(c.Lanes[lane]) })
	if !value.OK {
		return value, value, stats.NoInterval("%s", value.Why)
	}
	_, clusters := c.sample.Labelled()
	return value, se, stats.StudentInterval(value.Value, se.Value, level, clusters)
}

// Look enters what was found at a planned look.
func (c *Checked) Look(found *checked.Corrected, l checked.Look, alpha float64) {
	c.Corrected = found
	if c.claims == nil {
		c.claims = map[[2]int]float64{}
	}
	for _, d := range found.Differences {
		if !d.P.OK {
			continue
		}
		at, p := [2]int{d.A, d.B}, min(1, d.P.Value*alpha/l.Alpha)
		if before, there := c.claims[at]; !there || p < before {
			c.claims[at] = p
		}
	}
}

// LookAtFirst enters what was found at a planned look of the first answers of conversations alone.
func (c *Checked) LookAtFirst(found *checked.Corrected, l checked.Look, alpha float64) {
	if c.First == nil {
		c.First = &Checked{}
	}
	c.First.Look(found, l, alpha)
}

// OfFirst fills in what the first answers of conversations share with all answers: how far their judge was checked.
func (c *Checked) OfFirst() {
	if c.First == nil {
		return
	}
	first := *c
	first.First, first.OnLanes, first.Bounds = nil, nil, nil
	first.Corrected, first.claims, first.Labels = c.First.Corrected, c.First.claims, 0
	for _, v := range first.Corrected.Values {
		first.Labels += v.Labels
	}
	c.First = &first
}

// correctedTests is how corrected differences are tested, in words.
const correctedTests = "differences corrected by people's labels, Holm over all pairs and planned looks"

// Decides reports whether corrected numbers stand in place of the judge's.
func (c *Checked) Decides() bool {
	return c != nil && c.Corrected != nil && (c.State == checked.NoBetter || c.State == checked.FavoursLanes || c.State == checked.Checked)
}

// Claim returns the p-value of a difference over all looks.
func (c *Checked) Claim(a, b int) stats.Number {
	if p, ok := c.claims[[2]int{a, b}]; ok {
		return stats.Known(p)
	}
	return stats.Undefined("no test")
}

// Unit returns that of values.
func (c *Checked) Unit() Unit {
	if c.Shares {
		return Share
	}
	return Score
}

// LabelsOf counts the labels on a lane's answers at the last planned look.
func (c *Checked) LabelsOf(lane int) int {
	for _, e := range c.OnLanes {
		if e.Lane == lane {
			return e.Labels
		}
	}
	if c.Corrected != nil && lane < len(c.Corrected.Values) { // one lane alone
		return c.Corrected.Values[lane].Labels
	}
	return 0
}

// Used returns how a value came about, with so many labels.
func (c *Checked) Used(labels int) string {
	switch c.Corrected.Use {
	case checked.JudgeHelps:
		return "corrected by " + Plural(labels, "label") + " of people"
	case checked.AllLabelled:
		return "people labelled all answers"
	case checked.FewOfAKind:
		return Plural(labels, "label") + " of people only: too few of one kind among them to use the judge"
	}
	return Plural(labels, "label") + " of people only: the judge adds nothing here"
}

// CheckedOf returns how far those were checked whose verdicts a group has: one judge, or all.
func (s *Stage) CheckedOf(by []Value) *Checked {
	if i := slices.IndexFunc(by, func(v Value) bool { return v.Field == ByJudge }); i >= 0 && by[i].Value != JuryName {
		return s.CheckedBy[by[i].Value]
	}
	return s.Checked
}

// Beside notes corrected values and differences on what a table has of judges alone, and that it has none where people's labels correct
// nothing of it.
func (s *Stage) Beside(t *Table) {
	noted := false
	for i := range t.Findings {
		f := &t.Findings[i]
		c, groups := s.CheckedOf(f.By), len(f.By)
		if !c.Decides() || c.Pairs {
			continue
		}
		if f.Of(ByJudge) != "" {
			groups--
		}
		lane, of := slices.Index(c.Lanes, f.Of(ByLane)), ""
		switch {
		case lane < 0 || groups > 2:
		case groups == 1 && (f.What == WhatRate && c.Shares || f.What == WhatMean && !c.Shares):
			v := c.Corrected.Values[lane]
			of = valueWords(f, v.Value, v.Interval)
		case f.What == WhatDifference:
			other := slices.Index(c.Lanes, f.Of(ByAgainst))
			for _, d := range c.Corrected.Differences {
				switch {
				case d.A == lane && d.B == other:
					of = valueWords(f, d.Value, d.Interval)
				case d.A == other && d.B == lane && d.Interval.OK:
					of = valueWords(f, stats.Known(-d.Value.Value), stats.Between(-d.Interval.High, -d.Interval.Low))
				}
			}
		}
		if of != "" {
			noted = true
			f.Note("the judge alone; corrected by %s of people: %s", Plural(c.Labels, "label"), of)
		}
	}
	if s.Checked.Decides() && !noted && restsOnJudge(t.Method) {
		t.Note("by the judge alone: people's labels correct the %s", s.Checked.what())
	}
}

// restsOnJudge reports whether a method's numbers are those of judges, where nothing corrects them.
func restsOnJudge(m Method) bool {
	return slices.Contains([]Method{Rates, Flips, Stances, FlipCounts, SideBySide, NoWorse}, m)
}

// what returns what labels correct, in words.
func (c *Checked) what() string {
	switch {
	case c.Pairs:
		return "shares of wins of lanes"
	case c.Shares:
		return "rates of lanes over all judged answers"
	}
	return "means of lanes over all judged answers"
}

// valueWords returns a number with its interval; empty: there is none.
func valueWords(f *Finding, n stats.Number, in stats.Interval) string {
	if !n.OK || !in.OK {
		return ""
	}
	u := f.Shown()
	return fmt.Sprintf("%s (%s to %s)", u.Show(n.Value), u.Show(in.Low), u.Show(in.High))
}

// Trusted reports whether the judge's own numbers may claim a difference: it was not found to favour lanes, or to be no better than chance.
func (c *Checked) Trusted() bool { return !c.Decides() || c.State == checked.Checked }

// Correct puts corrected values and differences into the place of the judge's, where its state asks for it and they are about the same.
// Where they are not, a judge that cannot be trusted claims nothing. It is done once.
func (s *Leaderboard) Correct(c *Checked) {
	if s.Checked != nil || slices.ContainsFunc(s.By, func(v Value) bool { return v.Field == ByJudge && isPerson(v.Value) }) {
		return
	}
	s.Checked = c
	if !c.Decides() {
		return
	}
	if s.First && c.First.Decides() && s.correctable() {
		c, s.Checked = c.First, c.First
	} else if s.First || !s.correctable() {
		s.Alone = alone(s, c)
		for i := range s.Tests {
			if !c.Trusted() {
				s.Tests[i].P = stats.Undefined("the judge is not to be trusted (%s), and these numbers are not corrected", c.State)
			}
		}
		return
	}
	s.ByLabels = true
	at := map[string]int{}
	for i, lane := range c.Lanes {
		at[lane] = i
	}
	for i := range s.Places {
		p := &s.Places[i]
		lane, ok := at[p.Name]
		if p.Judge = p.Value; c.Pairs {
			p.Judge, p.Share = stats.Undefined("not all were compared with it"), stats.Number{}
			if ok {
				p.Judge = c.Corrected.Values[lane].Judge
			}
		}
		if !ok || !c.Corrected.Values[lane].Value.OK {
			p.Value, p.SE = stats.Undefined("by the judge alone, unchecked"), stats.Undefined("by the judge alone, unchecked")
			p.Interval = stats.NoInterval("by the judge alone, unchecked")
			continue
		}
		v := c.Corrected.Values[lane]
		p.Value, p.SE, p.Interval = v.Value, v.SE, v.Interval
	}
	var tests []Contrast
	each := s.PerCluster()
	for _, t := range s.Tests {
		a, first := at[s.Places[t.First].Name]
		b, second := at[s.Places[t.Second].Name]
		if !first || !second {
			continue
		}
		for _, d := range c.Corrected.Differences {
			sign := 1.0
			switch {
			case d.A == b && d.B == a:
				sign = -1
			case d.A != a || d.B != b:
				continue
			}
			if t.Items > 0 { // of as many clusters as have labels
				t.Items = int(math.Round(each * float64(d.Clusters)))
			}
			n := Contrast{Items: t.Items, First: t.First, Second: t.Second, Difference: stats.Known(sign * d.Value.Value), SE: d.SE,
				Clusters: d.Clusters, Interval: d.Interval, P: c.Claim(d.A, d.B)}
			if sign < 0 && d.Interval.OK {
				n.Interval = stats.Between(-d.Interval.High, -d.Interval.Low)
			}
			tests = append(tests, n)
		}
	}
	if c.Pairs { // strengths are the judge's alone
		s.What, s.Unit, s.Units, s.Instead, s.Penalised, s.Foretold, s.Style = WhatWin, Share, 0, "", "", nil, ""
	}
	s.Looked = nil // earlier looks claimed what the judge alone shows; those at labels spend an error of their own
	s.Tests, s.Test, s.Method = tests, ByErrors, correctedTests
}

// Corrected reports whether values and differences are corrected by people's labels.
func (s *Leaderboard) Corrected() bool { return s.ByLabels }

// alone returns why numbers rest on a judge alone that people have checked.
func alone(s *Leaderboard, c *Checked) string {
	switch {
	case s.Flips && s.Control:
		return "labels are on answers under pressure, not on the control"
	case s.First && !s.Part:
		return fmt.Sprintf("too few of the labels are on first answers: it takes %d of each lane", checked.FewestClusters)
	default:
		return "labels correct the " + c.what()
	}
}

// correctable reports whether labels on drawn answers, or on all pairs of drawn items, are about the same numbers.
func (s *Leaderboard) correctable() bool {
	others := slices.ContainsFunc(s.By, func(v Value) bool { return v.Field != ByJudge })
	if s.Field != ByLane || others || s.Part || s.Style != "" {
		return false
	}
	if s.Verb == Compared {
		return s.Rounds == nil
	}
	return s.What == WhatRate || s.What == WhatMean
}
