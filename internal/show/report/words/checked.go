package words

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// checked returns how far people have checked judges, and what their labels correct.
func (d document) checked(all []*ranked) []Caveat {
	titles := map[checked.State]string{checked.Unchecked: "Judge unchecked.", checked.BeingChecked: "Judge being checked.",
		checked.Untellable: "Judge cannot be checked.", checked.NoBetter: "Judge no better than chance.",
		checked.FavoursLanes: "Judge favours lanes.", checked.Checked: "Judge checked."}
	var out []Caveat
	seen := map[string]bool{}
	for _, r := range all {
		c := r.Checked
		if c == nil || seen[r.Stage] {
			continue
		}
		seen[r.Stage] = true
		text := fmt.Sprintf("Stage %s: %s.", r.Stage, c.Words())
		more := ""
		if left := c.Next - c.Items; left > 0 {
			more = d.command("label", r.Stage, "--count", strconv.Itoa(left*checked.LabelsOfItem(len(c.Lanes), c.Pairs)))
		}
		if !c.Decides() {
			out = append(out, Caveat{titles[c.State], text + " Numbers are the judge's until then. Label more:", more, nil})
			continue
		}
		var alone []string
		for _, i := range r.order {
			if p := r.Places[i]; p.Judge.OK && p.Value.OK {
				alone = append(alone, fmt.Sprintf("%s %s", p.Name, r.Unit.Show(p.Judge.Value)))
			}
		}
		if len(alone) > 0 {
			text += fmt.Sprintf(" Values and differences here are corrected by these labels; the judge alone said %s.",
				strings.Join(alone, ", "))
		}
		if more != "" {
			text += fmt.Sprintf(" The next correction comes at %s. Label more:", assay.Count(c.Next, "item"))
		}
		out = append(out, Caveat{titles[c.State], text, more, nil})
	}
	return out
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
	if err != nil || smallest <= wanted || r.Unit == analysis.Score && !d.unsettled(r) {
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
	command := ""
	if more > 0 {
		command = d.command("label", r.Stage, "--count", strconv.Itoa(more*each))
	}
	return &Caveat{"Few labels.", text, command, nil}
}
