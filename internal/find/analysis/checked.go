package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// JuryName is the name of the judge where several decide together, and JuryUnanimous how they do where all have to agree.
const (
	JuryName      = "jury"
	JuryUnanimous = "unanimous"
)

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
	// Declared: the labels came with the probabilities of their answers, and were not drawn here.
	Declared bool
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

// Words returns the state of the judge.
func (c *Checked) Words() string {
	if c == nil {
		return "judge unchecked: no person has labelled a drawn answer"
	}
	n := Plural(c.Labels, "label")
	wrong := func() string {
		if !c.Shares {
			return fmt.Sprintf("%s from people's scores on average, %s above them (%s to %s), %s", Score.Show(c.Error.Value),
				Score.Show(c.Bias.Value), Score.Show(c.BiasInterval.Low), Score.Show(c.BiasInterval.High), n)
		}
		return fmt.Sprintf("wrong in %s (%s to %s), %s", Share.Show(c.Error.Value), Share.Show(c.ErrorInterval.Low),
			Share.Show(c.ErrorInterval.High), n)
	}
	text := ""
	switch c.State {
	case checked.Unchecked:
		if text = "judge unchecked: no person has labelled a drawn answer"; c.Chosen {
			text = fmt.Sprintf("judge unchecked: %s chosen, not drawn, and %s nothing%s", WereLabels(c.Given),
				assay.Verb(c.Given, "corrects", "correct"), c.agrees())
		}
	case checked.BeingChecked:
		text = "judge being checked: " + c.Progress() + c.agrees()
		if c.Short() {
			text = fmt.Sprintf("judge cannot be checked: it takes labels in %s, and there are %s%s", Plural(c.Fewest, "cluster"),
				Plural(c.Frame, "item"), c.agrees())
		}
	case checked.Untellable:
		text = fmt.Sprintf("judge unchecked: the judge, or people, said the same of all answers, %s", n)
	case checked.NoBetter:
		text = "judge not shown to be better than chance: " + wrong()
	case checked.FavoursLanes:
		text = "judge checked, and favours lanes: " + wrong()
		for _, f := range c.Favours {
			if f.Holm.OK && f.Holm.Value <= 0.05 && f.Value.Value > 0 {
				text += fmt.Sprintf("; it says %s more for %s than people do", c.Unit().Show(f.Value.Value), c.Lanes[f.Lane])
			}
		}
	case checked.Checked:
		text = "judge checked: " + wrong() + "; not shown to favour a lane"
	}
	if c.Earlier > 0 {
		text += fmt.Sprintf("; its prompt was changed after %s, which do not count", Plural(c.Earlier, "label"))
	}
	switch {
	case c.Incomplete():
		text += fmt.Sprintf("; labels incomplete: %d of %s left out, as a person could not tell%s", c.LeftOut,
			Plural(c.Items+c.LeftOut, "item"), c.bounds())
	case c.LeftOut > 0:
		text += fmt.Sprintf("; %s left out, as a person could not tell", Plural(c.LeftOut, "item"))
	}
	if c.Declared {
		text += "; the labels' file declares how they were drawn"
	}
	return text
}

// mostLeftOut is the share of drawn items that may be left out before labels count as incomplete.
const mostLeftOut = 0.05

// Incomplete reports whether people could not tell about so many items that those may change the numbers.
func (c *Checked) Incomplete() bool {
	return float64(c.LeftOut) > mostLeftOut*float64(c.Items+c.LeftOut)
}

// bounds returns where values lie whatever those labels would have been; empty: that was not computed.
func (c *Checked) bounds() string {
	var parts []string
	for lane, b := range c.Bounds {
		if b.OK {
			parts = append(parts, fmt.Sprintf("%s %s to %s", c.Lanes[lane], c.Unit().Show(b.Low), c.Unit().Show(b.High)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (whatever they are: " + strings.Join(parts, ", ") + ")"
}

// Short reports whether all there is, labelled, would still be too few.
func (c *Checked) Short() bool {
	return c.Frame > 0 && (c.Frame < checked.FewestClusters || c.Items+c.LeftOut >= c.Frame && c.Clusters < c.Fewest)
}

// Progress returns how many labels of those that the next correction takes are there.
func (c *Checked) Progress() string {
	wanted := max(c.Next, c.Fewest)
	switch {
	case c.Items >= wanted:
		return fmt.Sprintf("%s in %d of %s", Plural(c.Given, "label"), c.Clusters, Plural(c.Fewest, "cluster"))
	case c.Declared:
		return fmt.Sprintf("%d of %s", c.Items, Plural(wanted, "item"))
	}
	return fmt.Sprintf("%d of %s", c.Given, Plural(wanted*checked.LabelsOfItem(len(c.Lanes), c.Pairs), "label"))
}

// agrees returns how often the judge says what people say, as the end of a sentence; empty: that is not known.
func (c *Checked) agrees() string {
	if !c.Agrees.OK || !c.AgreesInterval.OK {
		return ""
	}
	return fmt.Sprintf(", agrees in %s (%s to %s)", Share.Show(c.Agrees.Value), Share.Show(c.AgreesInterval.Low),
		Share.Show(c.AgreesInterval.High))
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

// Beside notes corrected values and differences on what a table has of the judge alone.
func (c *Checked) Beside(t *Table) {
	if !c.Decides() || c.Pairs {
		return
	}
	for i := range t.Findings {
		f := &t.Findings[i]
		lane, of := slices.Index(c.Lanes, f.Of(ByLane)), ""
		switch {
		case lane < 0 || len(f.By) > 2:
		case len(f.By) == 1 && (f.What == WhatRate || f.What == WhatMean):
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
			f.Note("the judge alone; corrected by %s of people: %s", Plural(c.Labels, "label"), of)
		}
	}
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
	if !s.correctable() {
		for i := range s.Tests {
			if !c.Trusted() {
				s.Tests[i].P = stats.Undefined("the judge is not to be trusted (%s), and these numbers are not corrected", c.State)
			}
		}
		return
	}
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
			n := Contrast{First: t.First, Second: t.Second, Difference: stats.Known(sign * d.Value.Value), SE: d.SE, Clusters: d.Clusters,
				Interval: d.Interval, P: c.Claim(d.A, d.B)}
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
func (s *Leaderboard) Corrected() bool { return s.Checked.Decides() && s.correctable() }

// correctable reports whether labels on drawn answers, or on all pairs of drawn items, are about the same numbers.
func (s *Leaderboard) correctable() bool {
	if s.Field != ByLane || len(s.By) > 0 || s.Part || s.Style != "" {
		return false
	}
	if s.Verb == Compared {
		return s.Rounds == nil
	}
	return s.What == WhatRate || s.What == WhatMean
}
