package words

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
	"assay/internal/study/declare"
)

// unfinished returns the caveat about what is missing and how to get it.
func (d document) unfinished(all []*ranked) []Caveat {
	var out []Caveat
	open, endings := d.withoutAnswer()
	again, given := int64(0), int64(0)
	for e, n := range endings {
		if e == assay.Empty || e == assay.Rejected {
			given += n
		} else {
			again += n
		}
	}
	switch {
	case d.Standing.State != "" && !d.Standing.Told:
		out = append(out, d.pending(open))
	case again > 0:
		out = append(out, Caveat{Title: "Answers are missing.", Text: fmt.Sprintf("%s ended without an answer. Send %s again:",
			assay.Count(again, "request"), assay.Verb(again, "it", "them")), Command: d.command("retry"),
			Button: "Send again", Size: assay.Count(again, "request")})
	}
	if given > 0 {
		out = append(out, Caveat{Title: "Answers are missing.",
			Text:    fmt.Sprintf("%s rejected by the provider or came back empty. See why:", were(given, "request")),
			Command: d.command("errors"), Button: "See why answers are missing", Size: assay.Count(given, "request")})
	}
	told := map[string]bool{}
	for _, r := range all {
		if r.Machines && d.Closed.IsZero() && d.Standing.State != "" {
			continue // its verdicts are on the way
		}
		if c := d.unjudged(r); c != nil && !told[r.Stage] { // groups of a stage have its coverage
			out, told[r.Stage] = append(out, *c), true
		}
	}
	return out
}

// pending returns the caveat about a run that is not at its end, or was not brought there.
func (d document) pending(open int64) Caveat {
	c := Caveat{Title: plot.Capital(d.Standing.State) + ".", Text: d.Standing.Why}
	if d.Closed.IsZero() {
		if open > 0 {
			c.Text += " " + assay.Count(open, "request") + assay.Verb(open, " has", " have") + " no answer yet."
		}
		c.Text += " What is said here may still change."
	}
	c.Text = strings.TrimSpace(c.Text)
	if len(d.Standing.Next) > 0 {
		c.Command, c.Button, c.Size = d.Standing.Next[0]+d.Where, "Go on", d.Standing.State
		switch {
		case strings.HasPrefix(c.Command, d.command("errors")):
			c.Button = "See why"
		case d.Standing.State == "cancelled":
			c.Button, c.Size = "Collect what is there", "nothing more is sent"
		case strings.Contains(c.Command, " --budget "):
			c.Size = "with a larger budget"
		case d.Standing.Next[0] == "assay run" && d.Rerun.Command != "":
			c.Command = d.Rerun.Command + d.Where
		}
	}
	return c
}

// unjudged returns the caveat about the missing verdicts of a stage, and how to get them or to see why.
func (d document) unjudged(r *ranked) *Caveat {
	c := r.Coverage
	if !c.Incomplete() && !hasGaps(r) {
		return nil
	}
	shares := assay.Thousands(c.Valid) + " of " + assay.Count(c.Wanted(), "verdict")
	there := fmt.Sprintf("%s of stage %s %s there.", shares, r.Stage, assay.Verb(c.Valid, "is", "are"))
	missing := assay.Thousands(c.Wanted()-c.Valid) + " of " + assay.Count(c.Wanted(), "verdict")
	silent := c.Abstained + c.Malformed + c.Failed
	switch {
	case !r.Machines:
		return &Caveat{Title: "People have not judged all of it.", Text: there + " Judge some:",
			Command: d.command("label", r.Stage), Button: "Judge some yourself", Size: shares + " of " + r.Stage, People: r.Stage}
	case silent > 0:
		return &Caveat{Title: "Verdicts are missing.",
			Text: fmt.Sprintf("%s %s could not be read, or the judge did not decide. See why:", there,
				assay.Thousands(silent)), Command: d.command("errors", "--verdicts"), Button: "See why verdicts are missing", Size: missing}

	}
	return &Caveat{Title: "Verdicts are missing.", Text: there + " See what could not be asked:", Command: d.command("errors"),
		Button: "See why verdicts are missing", Size: missing}
}

// hasGaps reports whether one lane of a stage has too little.
func hasGaps(r *ranked) bool {
	return slices.ContainsFunc(r.Places, func(p analysis.Place) bool { return p.Coverage.Planned > 0 && p.Coverage.Incomplete() })
}

// withoutAnswer counts requests that are open, and those that ended without an answer.
func (d document) withoutAnswer() (open int64, endings map[assay.Ending]int64) {
	endings = map[assay.Ending]int64{}
	for _, l := range d.Lanes {
		open += l.Open
		for e, n := range l.Endings {
			if !e.Stands() && n > 0 {
				endings[e] += n
			}
		}
	}
	return open, endings
}

// checked returns how far people have checked judges, and what their labels correct.
func (d document) checked(all []*ranked) []Caveat {
	titles := map[checked.State]string{checked.Unchecked: judgeUnchecked, checked.BeingChecked: "Judge being checked.",
		checked.Untellable: "Judge cannot be checked.", checked.NoBetter: "Judge no better than chance.",
		checked.FavoursLanes: "Judge favours lanes.", checked.Checked: "Judge checked."}
	var out []Caveat
	seen := map[string]bool{}
	for _, r := range all {
		c := r.Checked
		if c == nil || seen[r.Stage] || c.Chosen && r.Validated {
			continue
		}
		seen[r.Stage] = true
		text := fmt.Sprintf("Stage %s: %s.", r.Stage, c.Words())
		more := Caveat{Title: titles[c.State]}
		labels := c.Next*checked.LabelsOfItem(len(c.Lanes), c.Pairs) - c.Given
		if c.Chosen {
			labels = LabelsFor(len(r.Places), c.Pairs)
		}
		undrawn := c.Chosen && r.Rounds != nil // further labels would be of pairs that are chosen, too
		if labels > 0 && !c.Short() && !undrawn {
			more.Command = d.command("label", r.Stage, "--count", strconv.Itoa(labels))
			more.Button, more.Size, more.People = "Check the judge", labelsTime(labels, "more label"), r.Stage
		}
		if !c.Decides() {
			switch more.Text = text + " Numbers are the judge's."; {
			case more.Command != "":
				more.Text = text + " Numbers are the judge's until then. Label more:"
			case undrawn:
				more.Text = text + " Numbers are the judge's: where pairs are bought in rounds, no sample of them can be drawn."
			}
			out = append(out, more)
			continue
		}
		var alone []string
		for _, i := range r.order {
			if p := r.Places[i]; p.Judge.OK && p.Value.OK {
				alone = append(alone, fmt.Sprintf("%s %s", p.Name, r.Unit.Show(p.Judge.Value)))
			}
		}
		if len(alone) > 0 {
			who := "judge"
			if len(c.Each) > 0 {
				who = "judges"
			}
			text += fmt.Sprintf(" Values and differences here are corrected by these labels; the %s alone said %s.", who,
				strings.Join(alone, ", "))
		}
		text += aloneWords(r)
		if more.Command != "" {
			text += fmt.Sprintf(" The next correction comes at %s. Label more:", assay.Count(c.Next, "item"))
		}
		more.Text = text
		out = append(out, more)
	}
	return out
}

// aloneWords tells that numbers rest on a judge alone that people have checked, and what their labels correct instead; empty: they do not.
func aloneWords(r *ranked) string {
	why := r.Alone
	if why == "" {
		return ""
	}
	text := " These numbers are the judge's alone: " + why + "."
	if c := r.Checked; r.Flips && len(c.Lanes) <= maxNamed {
		var parts []string
		for i, v := range c.Corrected.Values {
			if v.Value.OK && v.Interval.OK {
				parts = append(parts, fmt.Sprintf("%s %s (%s)", c.Lanes[i], percentOf(v.Value.Value),
					percents(v.Interval.Low, v.Interval.High)))
			}
		}
		if len(parts) > 0 {
			text += " Taken back under pressure, as corrected: " + strings.Join(parts, ", ") + "."
		}
	}
	return text
}

// fewLabels returns the caveat about the difference that so many labels can show, and how many a smaller one needs; nil where they are
// enough. The error of a corrected difference falls with the labelled items, as long as there are others.
func (d document) fewLabels(r *ranked, se float64) *Caveat {
	c := r.Checked
	labelled, all := c.Corrected.Labelled, c.Corrected.Clusters
	design := stats.Design{Items: se * se * float64(labelled), DrawsA: 1, DrawsB: 1}
	test := stats.Test{Alpha: (1 - r.Level) / float64(max(1, len(r.Tests))), Power: wantedPower}
	smallest, err := design.Detectable(labelled, test)
	if err != nil {
		return nil
	}
	wanted, can, want := wantedPoints, "differences of about "+pointsOf(min(1, smallest))+" points", "10 points"
	if r.Unit == analysis.Score {
		wanted, can, want = smallest/2, "differences of about "+scoreOf(smallest), "half of that"
	}
	needed, err := design.ItemsNeeded(wanted, test)
	if err != nil || smallest <= wanted || r.Unit == analysis.Score && !unsettled(r) {
		return nil
	}
	text := fmt.Sprintf("%s on %s can show %s; ", assay.Count(c.Labels, "label"), assay.Count(labelled, "item"), can)
	more, each := 0, checked.LabelsOfItem(len(c.Lanes), c.Pairs)
	switch needed = roughly(needed); {
	case needed <= all:
		text, more = text+fmt.Sprintf("%s need about %s labelled items. Label more:", want, assay.Thousands(needed)), needed-labelled
	case labelled < all:
		text, more = text+fmt.Sprintf("labels on all %s items do not show %s. Label them, and ask more items:", assay.Thousands(all), want),
			all-labelled
	default:
		text += "all items are labelled: ask more."
	}
	out := &Caveat{Title: "Few labels.", Text: text}
	if more > 0 {
		out.Command = d.command("label", r.Stage, "--count", strconv.Itoa(more*each))
		out.Button, out.Size, out.People = "Label more", labelsTime(more*each, "label"), r.Stage
	}
	return out
}

// moved returns the caveats about what the study declared, dropped or changed after verdicts were there, or after it was locked.
func (d document) moved() []Caveat {
	if d.Report == nil || d.Report.Plan == nil {
		return nil
	}
	plan := d.Report.Plan
	var points []string
	for _, e := range plan.Late() {
		points = append(points, said(e)+fmt.Sprintf(": declared on %s, after %s", e.Day(), assay.Count(e.Verdicts, "verdict")))
	}
	for _, e := range plan.Dropped() {
		points = append(points, said(e)+fmt.Sprintf(": declared before the data, dropped on %s, after %s", e.Dropped.Day(),
			assay.Count(e.Dropped.Verdicts, "verdict")))
	}
	var out []Caveat
	if len(points) > 0 {
		out = append(out, Caveat{Title: "Declared late.", Points: points,
			Text: "The plan was changed after verdicts were there. What was declared late is not corrected with what was planned:"})
	}
	if l := plan.Lock; l != nil && len(l.Changed) > 0 {
		out = append(out, Caveat{Title: "Changed since the lock.", Text: LockWords(l)})
	}
	return out
}

// said returns a declaration for people.
func said(e declare.Entry) string {
	return fmt.Sprintf("%s `%s`", e.Kind, assay.Clean(e.Text, plot.MaxWords))
}

// LockWords returns since when a study is locked, and what was changed since.
func LockWords(l *declare.Lock) string {
	const short = 12
	text := fmt.Sprintf("Locked on %s (sha256 %s)", declare.Day(l.At), l.Digest[:min(short, len(l.Digest))])
	if len(l.Changed) == 0 {
		return text + "; nothing was changed since."
	}
	return text + "; changed since: " + assay.Clean(strings.Join(l.Changed, ", "), plot.MaxWords) + "."
}

// PlanWords returns when primary findings were declared, where there are any, and whether the study was locked.
func PlanWords(plan *declare.Plan, primary bool) []string {
	if plan == nil {
		plan = &declare.Plan{}
	}
	var out []string
	if l := plan.Lock; l != nil {
		out = append(out, LockWords(l))
	}
	if !primary {
		return out
	}
	const rest = "Their p-values are adjusted together (Holm); all other findings are exploratory."
	if !plan.Known {
		return append(out, "Primary findings are named in the study; whether that was before the data is not known. "+rest)
	}
	var last declare.Entry
	for _, e := range plan.Entries {
		if e.Kind == declare.Primary && e.Verdicts == 0 && e.At.After(last.At) {
			last = e
		}
	}
	return append(out, fmt.Sprintf("Primary findings were declared by %s, before any verdict was there. %s", last.Day(), rest))
}

// labelsTime returns a number of labels, and how long they take.
func labelsTime(n int, noun string) string {
	return fmt.Sprintf("%s, about %s", assay.Count(n, noun), assay.Count(max(1, (n+labelsInAMinute/2)/labelsInAMinute), "minute"))
}

// resolve returns the action that buys the comparisons which tell two lanes apart; empty: none are bought.
func (d document) resolve(r *ranked, s Settling) *Caveat {
	c := &Caveat{}
	if d.Rerun.Command == "" || d.Closed.IsZero() || !s.Even.Known || s.Even.Unit != "" || r.Verb != analysis.Compared ||
		r.Field != analysis.ByLane {
		return c
	}
	c.Button, c.Size = s.tells()
	c.Pair = Pair{r.Stage, s.First, s.Second}
	c.Command = SettleCommand(d.Document, c.Pair)
	return c
}

// SettleCommand returns the command that buys comparisons of two lanes; empty: nobody knows where the study is.
func SettleCommand(d *report.Document, p Pair) string {
	if d.Rerun.Command == "" {
		return ""
	}
	return fmt.Sprintf("%s --settle %q --stage %s", d.Rerun.Command, p.First+", "+p.Second, p.Stage) + d.Where
}

// tells returns which two a quote tells apart, and with how many more at what cost.
func (s Settling) tells() (which, with string) {
	which = "Tell " + assay.Clean(s.First, plot.MaxName) + " from " + assay.Clean(s.Second, plot.MaxName)
	if !s.Likely.Known {
		return which, "about " + s.Even.words("more "+cmp.Or(s.Even.Unit, s.Unit)) + " for a coin's chance"
	}
	return which, "about " + s.Likely.words("more "+cmp.Or(s.Likely.Unit, s.Unit))
}
