package check

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// checkCallable holds the tools of a stage against the lanes that are to call them.
func (d checker) checkCallable(st *study.Stage, problems *assay.Problems) {
	if len(st.Tools) == 0 {
		return
	}
	for _, t := range st.Tools {
		if err := plan.CheckSchema(t.Parameters.JSON); err != nil {
			problems.Add(t.Where.Key("parameters"), "a JSON Schema such as {type: object, properties: {city: {type: string}}}",
				"tool %s: its parameters are no schema: %s", t.Name, err)
		}
	}
	for _, l := range d.uses(st) {
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		modes := []assay.Mode{d.Mode(st, l)}
		if modes[0] == assay.ModeBatch && d.Study.Deadline != nil {
			modes = append(modes, assay.ModeLive)
		}
		for _, rule := range d.Catalog.ToolTrouble(l.Lane, kind, st.ToolChoice.Forced(), slices.Contains(modes, assay.ModeBatch)) {
			problems.Add(st.Where.Key(rule.Param), rule.Hint, "stage %s, lane %s: %s", st.Name, l.Name, rule.What)
		}
	}
}
