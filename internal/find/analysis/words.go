package analysis

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/find/stats"
)

// Finish corrects the p-values of all primary tests together, and puts primary findings in words.
func (r *Report) Finish() error {
	if err := r.adjust(); err != nil {
		return err
	}
	r.say()
	return nil
}

// adjust corrects the p-values of all primary tests together.
func (r *Report) adjust() error {
	var tests []*Finding
	var p []float64
	for i := range r.Tables {
		for k := range r.Tables[i].Findings {
			if f := &r.Tables[i].Findings[k]; f.Primary && f.P.OK {
				tests, p = append(tests, f), append(p, f.P.Value)
			}
		}
	}
	if len(p) == 0 {
		return nil
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return fmt.Errorf("adjust the primary tests: %w", err)
	}
	for i, f := range tests {
		f.Holm = stats.Known(adjusted[i])
		if m := f.Margin; m != nil && m.Standing != stats.CannotTell && adjusted[i] >= (1-f.Level)*float64(m.Tests) {
			m.Standing = stats.CannotTell
			f.Note("corrected over all primary findings it cannot be told")
			r.gated(f)
		}
	}
	return nil
}

// gated makes conditions see a primary finding as its table has it.
func (r *Report) gated(f *Finding) {
	for i := range r.Gates {
		for k := range r.Gates[i].Findings {
			if g := &r.Gates[i].Findings[k]; g.Margin != nil && g.Stage == f.Stage && slices.Equal(g.By, f.By) &&
				g.Margin.Of == f.Margin.Of && g.Margin.Size == f.Margin.Size {
				g.Margin.Standing = f.Margin.Standing
			}
		}
	}
}

// say writes the sentences of primary findings.
func (r *Report) say() {
	for i := range r.Tables {
		for k := range r.Tables[i].Findings {
			if f := &r.Tables[i].Findings[k]; f.Primary {
				f.Words = f.sentence(&r.Tables[i])
			}
		}
	}
}

// sentence returns the conclusion that the test supports.
func (f *Finding) sentence(t *Table) string {
	if f.Margin != nil {
		return f.Held()
	}
	subject := fmt.Sprintf("In stage %s, the %s", f.Stage, f.What)
	if name := f.name(); name != "" {
		subject += " of " + name
	}
	if !f.Value.OK {
		return subject + " is not known: " + f.Value.Why + "."
	}
	text := fmt.Sprintf("%s is %s", subject, f.show(f.Value.Value))
	if f.Interval.OK {
		text += fmt.Sprintf(" (%g%% interval %s to %s", f.Level*100, f.show(f.Interval.Low), f.show(f.Interval.High))
	} else {
		text += " (no interval: " + f.Interval.Why
	}
	text += fmt.Sprintf("; %s in %s)", Plural(f.N, "verdict"), Plural(f.Clusters, "cluster"))
	if verdict := f.shown(t.Looked); verdict != "" {
		text += "; " + verdict
	}
	if f.Bounds.OK && f.Bounds.Low < f.Bounds.High {
		text += fmt.Sprintf("; whatever the missing verdicts are, it lies between %s and %s", f.show(f.Bounds.Low), f.show(f.Bounds.High))
	}
	if f.Other != nil && f.Other.Value.OK {
		text += fmt.Sprintf("; with %s it is %s", f.Other.Rule, f.show(f.Other.Value.Value))
	}
	if f.Coverage.Incomplete() {
		text += "; too little of the plan is there to rely on it"
	}
	if t.Unvalidated {
		text += "; " + judgeUnchecked
	}
	if t.Selected != "" {
		text += "; " + selectedAfter + t.Selected
	}
	return text + "."
}

// Held returns how a difference from a baseline compares with its margin, in words.
func (f *Finding) Held() string {
	m := f.Margin
	subject, margin := fmt.Sprintf("In stage %s, %s", f.Stage, f.name()), strings.TrimPrefix(f.show(m.Size), "+")
	var text string
	switch {
	case !f.Value.OK:
		return fmt.Sprintf("%s: whether it is no worse than %s by %s is not known: %s.", subject, m.Of, margin, f.Value.Why)
	case m.Standing == stats.NoWorse:
		text = fmt.Sprintf("%s is no worse than %s by %s", subject, m.Of, margin)
	case m.Standing == stats.Worse:
		text = fmt.Sprintf("%s is worse than %s; %s were allowed", subject, m.Of, margin)
	default:
		text = fmt.Sprintf("%s: it cannot be told whether it is no worse than %s by %s", subject, m.Of, margin)
	}
	text += ": " + f.show(f.Value.Value)
	if f.Interval.OK {
		return text + fmt.Sprintf(" (%.4g%% interval %s to %s).", f.Level*100, f.show(f.Interval.Low), f.show(f.Interval.High))
	}
	return text + " (no interval: " + f.Interval.Why + ")."
}

// show returns a value in words.
func (f *Finding) show(x float64) string {
	if f.Shown() == Gap {
		return fmt.Sprintf("%+.1f points", nonzero(100*x))
	}
	return f.Unit.Show(x)
}

// Shown returns the unit in which a value is shown: a difference of shares in points, which no one takes for a share of
// the share.
func (f *Finding) Shown() Unit {
	if f.Unit != Share {
		return f.Unit
	}
	switch f.What {
	case WhatDifference, WhatNoWorse, WhatExcess, WhatAny, WhatRegressiveExcess, WhatProgressiveExcess, WhatChange, WhatMisfit,
		WhatTrueGap, WhatBias, WhatFavours, WhatFamily, WhatConfidence, WhatLength:
		return Gap
	}
	return Share
}

// nonzero returns a number that is not shown as minus zero, with one digit.
func nonzero(x float64) float64 {
	if x > -0.05 && x < 0 {
		return 0
	}
	return x
}

// ShowError returns an error in the unit: it has no sign.
func (u Unit) ShowError(x float64) string { return strings.TrimPrefix(u.Show(x), "+") }

// Plural returns a number with its noun, as the notes of tables write it: without separators of thousands.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shown returns the conclusion that a test allows, after the correction over all primary tests and for earlier looks.
func (f *Finding) shown(before *Looked) string {
	if !f.Holm.OK {
		return ""
	}
	if f.Holm.Value < (1-f.Level)*before.Part() {
		return fmt.Sprintf("this differs from none (adjusted p %.2g)", f.Holm.Value)
	}
	text := fmt.Sprintf("this does not show a difference (adjusted p %.2g", f.Holm.Value)
	if before != nil {
		text += fmt.Sprintf("; look %d at the items asks for %.2g", len(before.Items)+1, (1-f.Level)*before.Part())
	}
	if f.Interval.LeavesOut(0) {
		text += "; the interval is not adjusted"
	}
	return text + ")"
}

// Show returns a value in its unit.
func (u Unit) Show(x float64) string {
	if x > -0.0005 && x < 0 {
		x = 0 // no number is shown as minus zero
	}
	switch u {
	case Share:
		return fmt.Sprintf("%.1f%%", x*100)
	case Gap:
		return fmt.Sprintf("%+.1f pt", nonzero(100*x))
	case Points, Hundreds:
		return fmt.Sprintf("%.1f", x)
	case Squared:
		return fmt.Sprintf("%.4f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// What is written of facts about a table.
const (
	judgeUnchecked = "judge unchecked"
	selectedAfter  = "selected after "
)

// AllNotes returns the notes of a table with what is to be known of all its numbers, in words.
func (t *Table) AllNotes() []string {
	out := slices.Clone(t.Notes)
	if t.Unvalidated {
		out = append(out, judgeUnchecked)
	}
	if t.Unclear > 0 {
		out = append(out, WereLabels(t.Unclear)+" chosen because it was not clear which of the two is better: opponents differ, and "+
			"shares of wins are not those of all pairs; strengths hold")
	}
	if t.Selected != "" {
		out = append(out, selectedAfter+t.Selected)
	}
	if why := t.gap(); why != "" {
		out = append(out, "incomplete: "+why)
	}
	return out
}

// gap returns why the table is incomplete, in words; empty: it is not.
func (t *Table) gap() string {
	if t.Coverage.Incomplete() {
		if !t.Coverage.Share().OK {
			return "nothing was planned"
		}
		return fmt.Sprintf("%d of %d planned verdicts are valid", t.Coverage.Valid, t.Coverage.Wanted())
	}
	if gaps := t.gaps(); len(gaps) > 0 {
		return fmt.Sprintf("less than %.0f%% of what was planned of %s is there", 100*Complete, strings.Join(gaps, ", "))
	}
	return ""
}

// WereLabels counts labels that something was done with.
func WereLabels(n int) string {
	if n == 1 {
		return "1 label was"
	}
	return Plural(n, "label") + " were"
}
