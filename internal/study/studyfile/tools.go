package studyfile

import (
	"regexp"
	"slices"

	"assay/internal/study"
	"assay/internal/study/decode"
)

// toolName matches the names of tools that every provider takes.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTools holds the tools of a stage against themselves.
func (r *reader) checkTools(st *study.Stage) {
	names := make([]string, len(st.Tools))
	for i, t := range st.Tools {
		names[i] = t.Name
		switch {
		case t.Name == "" && r.Problems.Touch(st.Where.Key("tools")): // what is no tool was reported
		case !toolName.MatchString(t.Name):
			r.found.Add(t.Where.Key("name"), "letters, digits, _ and -, at most 64", "tool name %s", decode.Quote(t.Name))
		case slices.Contains(names[:i], t.Name):
			r.found.Add(t.Where.Key("name"), "rename one", "tool %s is here a second time", t.Name)
		}
	}
	if len(names) > 0 && len(st.Turns) > 1 {
		r.found.Add(st.Where.Key("tools"), "ask with `prompt:`, or with one turn",
			"stage %s: tools are called in one step, and it has several turns", st.Name)
	}
	r.checkToolOfRule(st)
	switch c := st.ToolChoice; {
	case c.Mode != "" && len(names) == 0:
		r.found.Add(c.At, "add `tools:`", "stage %s: there are no tools to choose from", st.Name)
	case c.Name != "":
		r.known(c.At, "tool of this stage", c.Name, names)
	}
}

// checkToolRule holds a rule about calls against itself.
func (r *reader) checkToolRule(t *study.ToolRule) {
	if t == nil {
		return
	}
	r.found = append(r.found, t.Arguments.Parse()...)
	switch {
	case t.None == (t.Name != ""):
		r.found.Add(t.At, "such as {name: get_weather, arguments: {city: Paris}}, or {none: true}",
			"a rule about tools has one of name, none")
	case t.None && (t.Arguments.JSON != nil || t.Whole):
		r.found.Add(t.At, "leave them out", "a call that must not be made has no arguments")
	case t.Whole && t.Arguments.JSON == nil:
		r.found.Add(t.Where.Key("whole"), "add `arguments:`", "there are no arguments that have to be all")
	}
}

// checkToolOfRule wants the tool that a rule waits for to be one that a judged stage gives: no answer could be right.
func (r *reader) checkToolOfRule(st *study.Stage) {
	u := r.study.RubricOf(st)
	if u == nil || u.Rule == nil || u.Rule.Tool == nil || u.Rule.Tool.Name == "" {
		return
	}
	var names []string
	for _, name := range st.Judge.List {
		from, ok := r.study.Stage(name)
		if !ok || len(from.Tools) == 0 {
			return // answers from elsewhere may have called any
		}
		for _, t := range from.Tools {
			names = append(names, t.Name)
		}
	}
	r.known(u.Rule.Tool.Where.Key("name"), "tool of the judged stage", u.Rule.Tool.Name, names)
}
