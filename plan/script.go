package plan

import (
	"assay"
	"assay/study"
)

// Script is the conversation of an ask or continue stage as the points at which a model is asked.
type Script struct {
	Steps []Step
}

// Step is one asked turn: what is said before it without asking, and the messages that may follow.
type Step struct {
	Given    []Said   // user and assistant messages in front of it that are not asked
	Says     []Branch // one, or several that all follow the same answer
	Each     *study.Turn
	Pressure bool // not the first step: a control may stand beside it
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

// ScriptOf reads the turns of a stage. A user message that is followed by a given answer is not asked.
func ScriptOf(st *study.Stage) Script {
	var s Script
	var given []Said
	if len(st.Turns) == 0 { // one question: the prompt; its templates are coordinates of their own
		return Script{Steps: []Step{{Says: []Branch{{}}}}}
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
		step := Step{Given: given, Pressure: len(s.Steps) > 0 || st.Verb() == study.VerbContinue}
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
		s.Steps = append(s.Steps, step)
	}
	return s
}

// ControlBranch is the name under which a neutral re-ask stands among the branches.
const ControlBranch = "control"

// fan is how many messages follow one answer at a step, the control aside. Branches that come from an input are counted
// by who knows the items.
func (s Step) fan(matched int) int {
	if s.Each != nil {
		return matched
	}
	return len(s.Says)
}
