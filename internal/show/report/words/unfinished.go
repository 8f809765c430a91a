package words

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
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
		out = append(out, Caveat{"Answers are missing.", fmt.Sprintf("%s ended without an answer. Send %s again:",
			assay.Count(again, "request"), assay.Verb(again, "it", "them")), d.command("retry"), nil})
	}
	if given > 0 {
		out = append(out, Caveat{"Answers are missing.",
			fmt.Sprintf("%s rejected by the provider or came back empty. See why:", were(given, "request")), d.command("errors"), nil})
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
			c.Text += " " + are(open, "request") + " on the way or not sent yet."
		}
		c.Text += " What is said here may still change."
	}
	c.Text = strings.TrimSpace(c.Text)
	if len(d.Standing.Next) > 0 {
		c.Command = d.Standing.Next[0] + d.Where
	}
	return c
}

// unjudged returns the caveat about the missing verdicts of a stage, and how to get them or to see why.
func (d document) unjudged(r *ranked) *Caveat {
	c := r.Coverage
	if !c.Incomplete() && !d.hasGaps(r) {
		return nil
	}
	there := fmt.Sprintf("%s of %s of stage %s %s there.", assay.Thousands(c.Valid), assay.Count(c.Planned-c.Excluded, "verdict"), r.Stage,
		assay.Verb(c.Valid, "is", "are"))
	silent := c.Abstained + c.Malformed + c.Failed
	switch {
	case !r.Machines:
		return &Caveat{"People have not judged all of it.", there + " Judge some:", d.command("label", r.Stage), nil}
	case silent > 0:
		return &Caveat{"Verdicts are missing.", fmt.Sprintf("%s %s could not be read, or the judge did not decide. See why:", there,
			assay.Thousands(silent)), d.command("errors", "--verdicts"), nil}
	}
	return &Caveat{"Verdicts are missing.", there + " See what could not be asked:", d.command("errors"), nil}
}

// hasGaps reports whether one lane of a stage has too little.
func (d document) hasGaps(r *ranked) bool {
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
