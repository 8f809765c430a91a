package words

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/assay"
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
