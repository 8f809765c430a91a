package analysis

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/stats/checked"
)

// Words returns the state of the judge.
func (c *Checked) Words() string {
	if c == nil {
		return "judge unchecked: no person has labelled a drawn answer"
	}
	if c.Why != "" {
		return "judge unchecked: " + c.Why + c.each()
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
				assay.Verb(c.Given, "corrects", "correct"), strings.Replace(c.agrees(), ", ", "; it ", 1))
		}
	case checked.BeingChecked:
		text = "judge being checked: " + c.Progress() + c.agrees()
		if c.Short() {
			text = fmt.Sprintf("judge cannot be checked: it takes labels in %s, and there are %s%s", Plural(c.Fewest, "cluster"),
				Plural(c.Frame, "item"), c.agrees())
		}
	case checked.Untellable:
		text = fmt.Sprintf("judge unchecked: people said the same of all answers, %s", n)
	case checked.NoBetter:
		text = "judge not shown to be better than chance: " + wrong()
	case checked.FavoursLanes:
		text = "judge checked, and favours lanes: " + wrong()
		for _, f := range c.Favours {
			if f.Holm.OK && f.Holm.Value <= 0.05 && f.Value.Value > 0 {
				text += fmt.Sprintf("; it says %s more for %s than people do", c.more(f.Value.Value), c.Lanes[f.Lane])
			}
		}
	case checked.Checked:
		text = "judge checked: " + wrong() + "; not shown to favour a lane"
	}
	if c.Earlier > 0 {
		text += fmt.Sprintf("; its prompt was changed after %s, which do not count", Plural(c.Earlier, "label"))
	}
	text += c.about()
	switch {
	case c.Incomplete():
		text += fmt.Sprintf("; labels incomplete: %d of %s left out, as a person could not tell%s", c.LeftOut,
			Plural(c.Items+c.LeftOut, "item"), c.bounds())
	case c.LeftOut > 0:
		text += fmt.Sprintf("; %s left out, as a person could not tell", Plural(c.LeftOut, "item"))
	}
	if c.Declared {
		if text += "; the labels' file declares how they were drawn"; c.Sum > 0 {
			text += fmt.Sprintf(" (its probabilities add up to %s, and there are more or fewer)", Plural(c.Sum, "item"))
		}
	}
	return c.Whose(text) + c.each()
}

// about returns which items corrected numbers are about, as the end of a sentence; empty: all.
func (c *Checked) about() string {
	switch {
	case c.Later == 0:
		return ""
	case c.Corrected == nil:
		return fmt.Sprintf("; %s came later, and no label stands for them", Plural(c.Later, "item"))
	}
	return fmt.Sprintf("; corrected numbers are about %s, and not about %d that came later", Plural(c.About, "item"), c.Later)
}

// more returns by how much one value exceeds another.
func (c *Checked) more(by float64) string {
	if c.Shares {
		return fmt.Sprintf("%.1f points", 100*by)
	}
	return Score.Show(by)
}

// Whose names who is checked at the beginning of a text about a judge: one, or the mean of several.
func (c *Checked) Whose(text string) string {
	if rest, ok := strings.CutPrefix(text, "judge "); ok && c != nil && len(c.Each) > 0 {
		return fmt.Sprintf("mean of %d judges %s", len(c.Each), rest)
	}
	return text
}

// each returns how far each of several judges was checked, as the end of a sentence.
func (c *Checked) each() string {
	text := ""
	for _, e := range c.Each {
		if text += fmt.Sprintf("; %s alone: %s", e.Judge, e.Checked.State); e.Checked.Error.OK {
			text += ", off by " + e.Checked.Unit().Show(e.Checked.Error.Value)
		}
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
