package check

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
)

// checkRubric reports what is wrong with a stage's rubric, and holds its prompts against the names they may use.
func (d checker) checkRubric(st *study.Stage, problems *assay.Problems) {
	if st.Rubric.Name == "" && st.Rubric.Own == nil {
		return // reported when the study was read
	}
	r, err := d.Rubric(st)
	if errors.Is(err, plan.ErrNoRule) {
		return // reported when the study was read
	}
	if err != nil {
		problems.Add(st.Where.Key("rubric"), d.rubricHint(st), "stage %s: %s", st.Name, err)
		return
	}
	for _, key := range []string{"prompt", "system", "wrap", "reply", "fallback"} {
		if st.Has(key) && len(r.Prompts) == 0 {
			problems.Add(st.Where.Key(key), "", "stage %s: %q is about models that judge, and none does here", st.Name, key)
		}
	}
	if len(r.Prompts) > 0 && len(st.Judges.List) == 0 {
		problems.Add(st.At, "add `judges: [LANE]`", "stage %s has no judges", st.Name)
	}
	if worst := study.CountAs(judge.AsWorst); (st.Count.Refused == worst || st.Count.Cut == worst) && !r.HasWorst() {
		problems.Warn(st.Where.Key("count"), "give its labels scores, or say `exclude`",
			"stage %s counts answers as the worst verdict, and rubric %s knows none: they stay without a verdict", st.Name, r.Name)
	}
	for i, name := range st.Trait.List {
		known := d.Study.Traits.Names()
		for _, t := range judge.Traits() {
			known = append(known, t.ID)
		}
		if !slices.Contains(known, name) {
			problems.Add(st.Trait.Places[i], assay.Choices(name, known), "no trait is called %q", name)
		}
	}
	if asked := d.Study.LanesNamed(st.Judges.List); len(asked) > 0 &&
		slices.ContainsFunc(r.Prompts, func(p judge.Prompt) bool { return strings.HasPrefix(p.Text, judge.NotInFiles) }) {
		problems.Add(st.Where.Key("rubric"), "write it, or name a built-in rubric: assay list prompts lists them",
			"stage %s: judge %s would be asked with a prompt that stands for one which was not in the imported files", st.Name,
			asked[0].Name)
	}
	if st.Jury != "" && st.Jury != study.Jury(judge.Each) && len(d.Study.LanesNamed(st.Judges.List)) > 0 &&
		slices.ContainsFunc(st.Judges.List, func(name string) bool { return strings.HasPrefix(name, "human:") }) {
		problems.Warn(st.Where.Key("jury"), "people alone decide together in a stage of their own",
			"stage %s: people sit on no jury beside models, because they may never come", st.Name)
	}
	d.checkOwn(st, r, problems)
	d.checkWeighed(st, r, problems)
	scope := judge.Scope(r.Kind, d.itemScope(d.Root(st)))
	d.checkText(st.System, scope, problems)
	for _, p := range r.Prompts {
		if i := slices.IndexFunc(st.Prompt, func(n study.Named) bool { return n.Name == p.Name && n.Text.Sent(r.Bare) == p.Text }); i >= 0 {
			d.checkText(st.Prompt[i].Text, scope, problems)
			checkSees(st, r, st.Prompt[i].Text, problems)
			continue
		}
		if own := d.Study.RubricOf(st); own != nil {
			for _, n := range own.Prompt {
				d.checkText(n.Text, scope, problems)
				checkSees(st, r, n.Text, problems)
			}
			d.checkText(own.System, scope, problems)
			break
		}
	}
	if _, field := scope.Fields["expect"]; slices.Contains(r.Needs, "expect") && !scope.Open && !field {
		in, _ := d.Study.Inputs.Find(d.Root(st))
		if in.Expect == (study.Expect{}) {
			report := problems.Warn
			if r.Rule == nil { // a judge would be paid for a guess
				report = problems.Add
			}
			report(st.Where.Key("rubric"), "give the input `expect: {field: COLUMN}`",
				"rubric %s holds answers against what is expected, and input %s has no `expect`", r.Name, d.Root(st))
		}
	}
}

// rubricHint names rubrics that would do, where a stage names one that does not.
func (d checker) rubricHint(st *study.Stage) string {
	if d.Study.RubricOf(st) != nil {
		return ""
	}
	if path.Ext(st.Rubric.Name) != "" {
		return fmt.Sprintf("a file goes under prompt: `rubric: {prompt: %s, labels: {right: 1, wrong: 0}}`", st.Rubric.Name)
	}
	if strings.ContainsAny(st.Rubric.Name, " ?{") {
		return "a text of your own goes under prompt: `rubric: {prompt: …, labels: {right: 1, wrong: 0}}`"
	}
	fits := d.Study.Rubrics.Names()
	for _, name := range judge.Builtins() {
		if r, _ := judge.Builtin(name); r.Kind == plan.KindOf(st) {
			fits = append(fits, name)
		}
	}
	return assay.Choices(st.Rubric.Name, fits)
}

// checkOwn reports what a rubric of the study's own leaves open, or names and does not have.
func (d checker) checkOwn(st *study.Stage, r judge.Rubric, problems *assay.Problems) {
	own := d.Study.RubricOf(st)
	if own == nil {
		return
	}
	if len(own.Labels) == 1 {
		report := problems.Warn
		if len(d.Study.LanesNamed(st.Judges.List)) > 0 { // one would be paid for
			report = problems.Add
		}
		report(own.Where.Key("labels"), "a judge chooses between two or more", "the rubric of stage %s has one label, %s", st.Name,
			own.Labels[0].Name)
	}
	if own.Rule != nil && len(own.Labels) > 0 && len(own.Rule.Regex) == 0 { // those of patterns are checked where they are read
		checkRule(st, own, r, problems)
	}
	for key, field := range map[string]string{"label": own.Label, "score": own.Score} {
		if fields := judge.Fields(own.Schema.JSON); field != "" && len(fields) > 0 && !slices.Contains(fields, field) {
			problems.Add(own.Where.Key(key), assay.Choices(field, fields),
				"%s: the schema of the answer has no field %q", key, field)
		}
	}
	for _, t := range own.Rule.Templates() {
		scope := d.itemScope(d.Root(st))
		scope.Names = map[string]prompt.Shape{"expect": {Kind: prompt.Text}}
		*problems = append(*problems, t.Check(scope)...)
	}
}

// checkWeighed reports judges whose answers cannot be read from the probabilities of their first token.
func (d checker) checkWeighed(st *study.Stage, r judge.Rubric, problems *assay.Problems) {
	own := d.Study.RubricOf(st)
	if !r.Weighed || own == nil {
		return
	}
	at := own.Where.Key("score")
	if r.Declared {
		problems.Add(at, "leave `reply` out", "stage %s: score: %s reads the first token alone, and `reply` declares another form",
			st.Name, judge.ScoreLogprobs)
	}
	if lacks := unnamed(r); len(lacks) > 0 {
		problems.Warn(own.Where.Key("prompt"), "ask for one of them, and nothing else",
			"the judge's prompt of stage %s does not name its labels %s, and the first token has to be one", st.Name,
			strings.Join(lacks, ", "))
	}
	for _, l := range d.uses(st) {
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		lane := d.Weighing(l).Lane
		lane.Mode = d.Mode(st, l)
		if len(lane.Params.Schema) > 0 || lane.Params.JSON {
			problems.Add(l.Where.Key("schema"), "a lane without `schema`",
				"stage %s scores by the first token, and lane %s asks for JSON, which begins with a bracket", st.Name, l.Name)
		}
		for _, issue := range d.Catalog.Check(lane, kind, d.Today) {
			if issue.Param == "logprobs" && l.Params.Logprobs == 0 { // else it was reported of the lane
				problems.Add(at, "judge with a lane that tells them, or write `labels` without `score: "+judge.ScoreLogprobs+"`",
					"stage %s scores by logprobs, and judge %s cannot: %s", st.Name, l.Name, issue.What)
			}
		}
	}
}

// unnamed returns the labels that neither the system text nor some prompt of a rubric names.
func unnamed(r judge.Rubric) (lacks []string) {
	for _, word := range r.Words() {
		if slices.ContainsFunc(r.Prompts, func(p judge.Prompt) bool { return !strings.Contains(r.System+"\n"+p.Text, word) }) {
			lacks = append(lacks, word)
		}
	}
	return lacks
}

// checkRule reports labels that a rule gives and its rubric does not have: verdicts with them would all be malformed.
func checkRule(st *study.Stage, own *study.Rubric, r judge.Rubric, problems *assay.Problems) {
	var gives, lacks []string
	for _, l := range plan.RuleLabels(own.Rule) {
		gives = append(gives, l.Name)
		if !r.Has(l.Name) {
			lacks = append(lacks, l.Name)
		}
	}
	if len(lacks) == 0 {
		return
	}
	hint := fmt.Sprintf("write labels: {%s: 1, %s: 0}, or leave labels out", gives[0], gives[len(gives)-1])
	problems.Add(own.Where.Key("labels"), hint, "the rule of stage %s gives %s, and %s not among the labels of its rubric", st.Name,
		strings.Join(gives, " or "), strings.Join(lacks, " and ")+assay.Verb(len(lacks), " is", " are"))
}

// checkSees reports when a judge's prompt does not show what is to be judged.
func checkSees(st *study.Stage, r judge.Rubric, t study.Text, problems *assay.Problems) {
	if t.Template == nil {
		return
	}
	uses := func(name string) bool {
		return slices.ContainsFunc(t.Template.Uses(), func(path []string) bool { return path[0] == name })
	}
	switch {
	case r.Kind == judge.Answers && !uses("answer") && !uses("conversation") && !uses("first"):
		problems.Add(t.At, "write {{ answer.text }} where it belongs", "the judge's prompt of stage %s does not show the answer", st.Name)
	case r.Kind == judge.Pairs && !(uses("a") && uses("b")):
		hint := "write {{ a.text }} and {{ b.text }} where they belong"
		if known := promptNames(r); !strings.ContainsAny(t.Text, " \n") && len(known) > 0 {
			hint = cmp.Or(assay.DidYouMean(t.Text, known), "built-in prompts are "+strings.Join(known, ", "))
		}
		problems.Add(t.At, hint, "the judge's prompt of stage %s does not show both texts", st.Name)
	}
}

func promptNames(r judge.Rubric) []string {
	var names []string
	for _, p := range judge.Templates(r.Name) {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// oneBrace is a placeholder as other systems write it.
var oneBrace = regexp.MustCompile(`(?:^|[^{])(\{\s*([A-Za-z_][A-Za-z0-9_]*)(\.[A-Za-z0-9_.]+)?\s*\})(?:[^}]|$)`)

// fieldInOneBrace returns the first field of an item that a template names in single braces, as it is written, and where; "": none.
func (d checker) fieldInOneBrace(t study.Text, scope prompt.Scope) (at assay.Place, written string) {
	for _, m := range oneBrace.FindAllStringSubmatchIndex(t.Text, -1) {
		if _, field := scope.Fields[t.Text[m[4]:m[5]]]; field {
			return t.Body.After(t.Text[:m[2]]), t.Text[m[2]:m[3]]
		}
	}
	return at, ""
}

// checkText holds a template against the names it may use, and warns of placeholders that stay as they are.
func (d checker) checkText(t study.Text, scope prompt.Scope, problems *assay.Problems) {
	if t.Template == nil {
		return
	}
	*problems = append(*problems, t.Template.Check(scope)...)
	for _, m := range oneBrace.FindAllStringSubmatchIndex(t.Text, -1) {
		written, name := t.Text[m[2]:m[3]], t.Text[m[4]:m[5]]
		_, field := scope.Fields[name]
		_, known := scope.Names[name]
		ours, foreign := otherSystems()[name]
		if field || known || foreign {
			ours = cmp.Or(ours, strings.TrimSpace(strings.Trim(written, "{}")))
			problems.Warn(t.Body.After(t.Text[:m[2]]), "write {{ "+ours+" }} for what stands there", "%s is sent as it is", written)
		}
	}
}

// otherSystems are placeholders of a system that studies come from, and what they are called here.
func otherSystems() map[string]string {
	return map[string]string{"TRAIT_NAME": "trait.name", "TRAIT_DESCRIPTION": "trait.description", "SAMPLE_1": "a.text",
		"SAMPLE_2": "b.text"}
}
