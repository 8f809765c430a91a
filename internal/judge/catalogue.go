package judge

import "slices"

// Text is one built-in text that judges are sent, under the name that `assay list prompts` gives it.
type Text struct {
	Name   string // RUBRIC, RUBRIC/TEMPLATE, or the name of a trait
	Kind   string // rubric, template or trait
	Rubric Rubric // of a rubric or a template
	System string // the system message; empty: none
	Text   string // a template; of a trait its description; empty: a rule judges, and no model is asked
}

// The kinds of texts.
const (
	TextRubric   = "rubric"
	TextTemplate = "template"
	TextTrait    = "trait"
)

// Texts lists all built-in texts: rubrics, the templates of those that have several, and traits.
func Texts() []Text {
	var out []Text
	for _, name := range Builtins() {
		r, _ := Builtin(name) // it is one of them
		t := Text{Name: name, Kind: TextRubric, Rubric: r, System: r.System}
		if len(r.Prompts) > 0 {
			t.Text = r.Prompts[0].Text
		}
		out = append(out, t)
		if all := Templates(name); len(all) > 1 {
			for _, p := range all {
				out = append(out, Text{Name: name + "/" + p.Name, Kind: TextTemplate, Rubric: r, System: r.System, Text: p.Text})
			}
		}
	}
	for _, t := range Traits() {
		out = append(out, Text{Name: t.ID, Kind: TextTrait, Text: t.Description})
	}
	return out
}

// FindText returns the built-in text of a name; a template may be named without its rubric.
func FindText(name string) (Text, bool) {
	all := Texts()
	if i := slices.IndexFunc(all,
		func(t Text) bool { return t.Name == name || t.Kind == TextTemplate && t.Name == t.Rubric.Name+"/"+name }); i >= 0 {
		return all[i], true
	}
	return Text{}, false
}
