package plan

import (
	"assay/internal/assay"
	"assay/internal/study"
)

// Step is one asked turn: what is said before it without asking, and the messages that may follow.
type Step struct {
	Given    []Said   // user and assistant messages in front of it that are not asked
	Says     []Branch // one, or several that all follow the same answer
	Each     *study.Turn
	Pressure bool // not the first question: a control may stand beside it
}

// Said is one given message.
type Said struct {
	Role assay.Role
	Text study.Text
}

// Branch is one of the messages of a step; its name is empty where there is only one.
type Branch struct {
	Name string
	Text study.Text
}

// steps reads the turns of a stage. A user message that is followed by a given answer is not asked.
func steps(st *study.Stage) []Step {
	var all []Step
	var given []Said
	if len(st.Turns) == 0 { // one question: the prompt; its templates are coordinates of their own
		return []Step{{Says: []Branch{{}}}}
	}
	for i, t := range st.Turns {
		switch {
		case !t.Asked():
			given = append(given, Said{Role: assay.RoleAssistant, Text: t.Assistant})
			continue
		case i+1 < len(st.Turns) && !st.Turns[i+1].Asked() && len(t.Branches) == 0 && t.Each == "":
			given = append(given, Said{Role: assay.RoleUser, Text: t.User})
			continue
		}
		step := Step{Given: given, Pressure: len(all) > 0 || st.GoesOn()}
		given = nil
		switch {
		case t.Each != "":
			step.Each = &st.Turns[i]
		case len(t.Branches) > 0:
			for _, b := range t.Branches {
				step.Says = append(step.Says, Branch{Name: b.Name, Text: b.Text})
			}
		default:
			step.Says = []Branch{{Text: t.User}}
		}
		all = append(all, step)
	}
	return all
}

// ControlBranch is the name under which a neutral re-ask stands among the branches.
const ControlBranch = "control"
