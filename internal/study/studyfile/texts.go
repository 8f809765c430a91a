package studyfile

import (
	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/expr"
	"assay/internal/study/prompt"
)

// checkTexts parses every template of a stage and compiles its conditions.
func (r *reader) checkTexts(st *study.Stage, verb study.Verb) {
	r.template(&st.System)
	r.template(&st.Context)
	for i := range st.Prompt {
		r.template(&st.Prompt[i].Text)
	}
	r.shown(st.Media)
	asked := 0
	for i := range st.Turns {
		t := &st.Turns[i]
		r.shown(t.Media)
		r.template(&t.User)
		r.template(&t.Assistant)
		r.template(&t.Say)
		for j := range t.Branches {
			r.template(&t.Branches[j].Text)
			if name := t.Branches[j].Name; name == "control" || name == "" {
				r.found.Add(t.Branches[j].At, "choose another name", "a branch cannot be called %q", name)
			}
		}
		if t.Each != "" {
			r.known(t.Where.Key("each"), "input", t.Each, r.study.Inputs.Names())
		}
		if t.Asked() {
			asked++
		}
	}
	if st.Has("turns") && asked == 0 && !r.Problems.Touch(st.Where.Key("turns")) {
		r.found.Add(st.Where.Key("turns"), "the last turn must be the user's", "stage %s asks nothing", st.Name)
	} else if n := len(st.Turns); n > 0 && !st.Turns[n-1].Asked() {
		r.found.Add(st.Turns[n-1].At, "", "the conversation ends with a given answer, so nothing is asked")
	}
	if st.Control != nil {
		r.template(&st.Control.Say)
		if st.Control.On && asked < 2 && verb == study.VerbAsk {
			r.found.Add(st.Where.Key("control"), "a control goes beside the pressure of a second turn",
				"stage %s has no turn that a control could stand beside", st.Name)
		}
	}
	if st.Rubric.Own != nil {
		r.rubricTexts(st.Rubric.Own)
	}
	r.conditions(st)
}

func (r *reader) template(t *study.Text) {
	if t.Text == "" || t.Template != nil {
		return
	}
	parsed, problems := prompt.Parse(t.Body, t.Text)
	t.Template = parsed
	r.found = append(r.found, problems...)
}

// shown parses the names of what is shown.
func (r *reader) shown(media study.Media) {
	for i := range media {
		var problems assay.Problems
		media[i].Template, problems = prompt.Parse(media[i].At, media[i].Text)
		r.found = append(r.found, problems...)
	}
}

// compile reads a condition and holds the stages it asks about against those there are. Which fields an item has is
// known only to who reads the data.
func (r *reader) compile(e study.Expression, kind expr.Kind) *expr.Program {
	if e.Source == "" {
		return nil
	}
	p, problems := expr.Compile(e.At, e.Source, expr.Env{Kind: kind, Open: true})
	r.found = append(r.found, problems...)
	if p == nil {
		return nil
	}
	for _, ref := range p.Stages() {
		if !r.known(ref.Place, "stage", ref.Stage, r.stageNames()) {
			continue
		}
		if st, _ := r.study.Stage(ref.Stage); st.Verb() != study.VerbJudge && st.Verb() != study.VerbCompare {
			r.found.Add(ref.Place, "name a stage that judges or compares", "stage %s gives no %ss", ref.Stage, ref.Func)
		}
		if ref.Lane != "" {
			r.checkAnswerers(study.Names{List: []string{ref.Lane}, Places: []assay.Place{ref.Place}})
		}
	}
	return p
}

// conditions compiles the conditions of a stage.
func (r *reader) conditions(st *study.Stage) {
	st.Keep = r.compile(st.Filter, expr.Items)
	st.Gate = r.compile(st.When, expr.When)
	st.LaneGate = r.compile(st.Lanes.Only, expr.Lanes)
}
