package studyfile

import (
	"errors"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// verbKeys returns the keys that belong to each verb, besides those every stage has.
func verbKeys(v study.Verb) []string {
	common := []string{"name", "when", "where", "mode", "batch"}
	talk := []string{"system", "media", "turns", "control", "lanes", "repeats"}
	judge := []string{"media", "rubric", "judges", "jury", "gold", "of", "count", "second_try", "fallback", "repeats", "system", "prompt",
		"wrap", "reply"}
	switch v {
	case study.VerbAsk:
		return slices.Concat(common, talk, []string{"ask", "context", "prompt", "messages", "tools", "tool_choice"})
	case study.VerbContinue:
		return slices.Concat(common, talk, []string{"continue"})
	case study.VerbImport:
		return []string{"name", "import", "system", "prompt", "turns", "control", "repeats"}
	case study.VerbJudge:
		return slices.Concat(common, judge, []string{"judge", "among"})
	case study.VerbCompare:
		return slices.Concat(common, judge, []string{"compare", "among", "pairs", "trait", "ties", "identical"})
	}
	return nil
}

func (r *reader) checkStages() {
	first := map[string]assay.Place{}
	for i := range r.study.Stages {
		st := &r.study.Stages[i]
		if !stageName.MatchString(st.Name) {
			r.found.Add(st.Where.Key("name"), "small letters, digits and _, starting with a letter", "stage name %s", decode.Quote(st.Name))
		} else if at, ok := first[st.Name]; ok {
			r.found.Add(st.Where.Key("name"), "rename one", "stage %s is here a second time (first at line %d)", st.Name, at.Line)
		}
		first[st.Name] = st.Where.Key("name")
		r.checkVerb(st)
	}
	if len(r.study.Stages) == 0 {
		r.found.Add(r.study.At, "add `stages:` with one `ask`", "the study has no stages")
	}
}

func (r *reader) checkVerb(st *study.Stage) {
	var verbs []string
	for _, v := range []study.Verb{study.VerbAsk, study.VerbContinue, study.VerbImport, study.VerbJudge, study.VerbCompare} {
		if st.Has(string(v)) {
			verbs = append(verbs, string(v))
		}
	}
	if len(verbs) != 1 {
		r.found.Add(st.At, "one of ask, continue, import, judge, compare", "stage %s has %d verbs", st.Name, len(verbs))
		return
	}
	verb := study.Verb(verbs[0])
	if st.Verb() != verb {
		r.found.Add(st.Where.Key(verbs[0]), "", "stage %s: %s names nothing", st.Name, verb)
		return
	}
	allowed := verbKeys(verb)
	for key, at := range st.Keys() {
		if !slices.Contains(allowed, key) && slices.Contains(stageKeys(), key) {
			r.found.Add(at, "", "%s does not belong to a stage that says %s", decode.Quote(key), verb)
		}
	}
	r.checkBatch(st.Batch)
	if st.Batch.Size > 0 && st.Batch.Segments > 0 {
		r.found.Add(st.Batch.At, "", "batch: want one of size, segments")
	}
	r.checkLaneNames(st.Lanes.Among)
	r.checkAnswerers(st.Among)
	r.checkSubject(st, verb)
	r.checkJudges(st, verb)
	r.checkTexts(st, verb)
	r.checkRounds(st)
	r.checkTools(st)
}

// stageKeys returns all keys a stage may have, so that an unknown key is reported once, by the decoder.
func stageKeys() []string {
	var all []string
	for _, v := range []study.Verb{study.VerbAsk, study.VerbContinue, study.VerbImport, study.VerbJudge, study.VerbCompare} {
		all = append(all, verbKeys(v)...)
	}
	return all
}

// checkSubject looks at what the verb is about.
func (r *reader) checkSubject(st *study.Stage, verb study.Verb) {
	inputs := r.study.Inputs.Names()
	switch verb {
	case study.VerbAsk:
		r.known(st.Where.Key("ask"), "input", st.Ask, inputs)
		if st.Has("prompt") && st.Has("turns") || st.Has("messages") && (st.Has("prompt") || st.Has("turns")) {
			r.found.Add(st.At, "", "stage %s: want one of prompt, turns, messages", st.Name)
		}
		if !st.Has("prompt") && !st.Has("turns") && !st.Has("messages") {
			r.found.Add(st.At, `such as prompt: "{{ text }}"`, "stage %s asks nothing: it has no prompt, turns or messages", st.Name)
		}
		if len(r.study.Contestants(st)) == 0 && len(r.study.LaneSpecs.List) == 0 {
			r.found.Add(st.At, "add `lanes:` with a model", "stage %s has no lanes to ask", st.Name)
		}
	case study.VerbContinue:
		r.answers(st.Where.Key("continue"), st.Continue, study.VerbContinue)
		if len(st.Turns) == 0 {
			r.found.Add(st.At, "add `turns:`", "stage %s has nothing to say", st.Name)
		}
		r.checkGoesOn(st)
	case study.VerbImport:
		if st.Import.File == "" {
			r.found.Add(st.Import.At, "", "import names no file")
		}
		if st.Import.Of == "" {
			r.found.Add(st.Import.At, "such as of: questions", "import does not say which input was asked")
		} else {
			r.known(st.Import.Key("of"), "input", st.Import.Of, inputs)
		}
		if st.Has("prompt") && st.Has("turns") {
			r.found.Add(st.At, "", "stage %s: want one of prompt, turns", st.Name)
		}
	case study.VerbJudge:
		for i, name := range st.Judge.List {
			r.answers(st.Judge.Places[i], name, study.VerbJudge)
		}
	case study.VerbCompare:
		r.checkCompared(st, inputs)
	}
}

// checkGoesOn adds a problem where a conversation that was imported cannot be gone on with.
func (r *reader) checkGoesOn(st *study.Stage) {
	from, ok := r.study.Stage(st.Continue)
	if !ok || from.Import == nil {
		return
	}
	at := st.Where.Key("continue")
	if from.Guessed && len(from.Turns) > 1 {
		r.found.Add(at, "say it with `turns:` on stage "+from.Name,
			"it is not known what was asked in the conversations of stage %s", from.Name)
	}
	for _, l := range r.study.Contestants(st) {
		if r.study.Undeclared(l.Name) == l {
			r.found.Add(at, "declare it under `lanes` with its model, or choose others with `lanes:`",
				"lane %s has imported answers only: it cannot be asked", l.Name)
		}
	}
}

// answers adds a problem when a stage that is to give answers does not exist or gives none.
func (r *reader) answers(at assay.Place, name string, verb study.Verb) {
	if !r.known(at, "stage", name, r.stageNames()) {
		return
	}
	if of, _ := r.study.Stage(name); of.Verb() == study.VerbJudge || of.Verb() == study.VerbCompare {
		r.found.Add(at, "name a stage that asks, continues or imports", "cannot %s stage %s: it gives verdicts, not answers", verb, name)
	}
}

func (r *reader) checkCompared(st *study.Stage, inputs []string) {
	isStage, isInput := slices.Contains(r.stageNames(), st.Compare), slices.Contains(inputs, st.Compare)
	switch at := st.Where.Key("compare"); {
	case isStage && isInput:
		r.found.Add(at, "rename one", "%s is both a stage and an input", decode.Quote(st.Compare))
	case isStage:
		r.answers(at, st.Compare, study.VerbCompare)
		if st.Pairs != nil && st.Pairs.Within != "" {
			r.found.Add(st.Pairs.Key("within"), "leave it out: `by` of an analysis groups by a field of the items",
				"within is for items that are compared; lanes meet on the same item anyway")
		}
	case !isInput:
		r.known(at, "stage or input", st.Compare, slices.Concat(r.stageNames(), inputs))
	}
}

func (r *reader) checkJudges(st *study.Stage, verb study.Verb) {
	if verb != study.VerbJudge && verb != study.VerbCompare {
		return
	}
	if !st.Has("rubric") {
		hint := "such as rubric: compliance"
		if verb == study.VerbCompare {
			hint = "such as rubric: better"
		}
		r.found.Add(st.At, hint, "stage %s has no rubric", st.Name)
	}
	r.checkGold(st)
	r.checkFallback(st)
	for i, name := range st.Judges.List {
		if person, ok := strings.CutPrefix(name, "human:"); ok {
			if person == "" {
				r.found.Add(st.Judges.Places[i], "human:NAME or human:*", "a person without a name")
			}
			continue
		}
		if strings.HasPrefix(name, study.ImportedJudge) {
			continue
		}
		if slices.Contains([]string{"human", "humans", "people", "person", "me"}, name) && len(r.study.LanesNamed([]string{name})) == 0 {
			r.found.Add(st.Judges.Places[i], "people are named human:NAME, such as human:ann", "no lane is called %s", decode.Quote(name))
			continue
		}
		if slices.Contains(st.Judges.List[:i], name) {
			r.found.Add(st.Judges.Places[i], "several votes of one judge are `repeats: N`", "judge %s is named twice", name)
		}
		r.checkLaneNames(study.Names{List: []string{name}, Places: st.Judges.Places[i : i+1]})
	}
}

// checkFallback wants one lane that does not judge in the stage itself: its verdict would count twice.
func (r *reader) checkFallback(st *study.Stage) {
	if st.Fallback == "" {
		return
	}
	at := st.Where.Key("fallback")
	lanes := r.study.LanesNamed([]string{st.Fallback})
	if len(lanes) != 1 {
		r.checkLaneNames(study.Names{List: []string{st.Fallback}, Places: []assay.Place{at}})
		if len(lanes) > 1 {
			r.found.Add(at, "name one of them", "fallback %s: it means %d lanes", decode.Quote(st.Fallback), len(lanes))
		}
		return
	}
	if slices.ContainsFunc(st.Judges.List, func(n string) bool { return study.Picks(n, lanes[0]) }) {
		r.found.Add(at, "name a lane that does not judge there",
			"lane %s judges in stage %s itself: in another judge's place its verdict would count twice", lanes[0].Name, st.Name)
	}
	if st.SecondTry != nil && *st.SecondTry {
		r.found.Add(at, "", "stage %s: want one of second_try, fallback", st.Name)
	}
}

// checkGold warns of labels that are not there: people may write them after the answers.
func (r *reader) checkGold(st *study.Stage) {
	if st.Gold == "" || path.IsAbs(st.Gold) {
		return
	}
	f, err := r.fsys.Open(assay.CleanPath(st.Gold))
	if err == nil {
		f.Close()
		return
	}
	if remote, ok := errors.AsType[assay.Problems](err); ok {
		r.found.Add(st.Where.Key("gold"), remote[0].Hint, "gold labels: %s", remote[0].What)
		return
	}
	r.found.Warn(st.Where.Key("gold"), "until it is there, the judge counts as unchecked", "gold labels %s: no such file",
		decode.Quote(st.Gold))
}

// checkOrder adds a problem for every stage that waits for itself.
func (r *reader) checkOrder() {
	state := map[string]int{} // 1: being looked at, 2: done
	var visit func(name string, trail []string)
	visit = func(name string, trail []string) {
		st, ok := r.study.Stage(name)
		if !ok || state[name] == 2 {
			return
		}
		if state[name] == 1 {
			loop := append(trail[slices.Index(trail, name):], name)
			r.found.Add(st.At, "a stage may only look at stages that do not wait for it", "stages wait for each other: %s",
				strings.Join(loop, " → "))
			return
		}
		state[name] = 1
		for _, n := range st.Needs() {
			visit(n, append(trail, name))
		}
		state[name] = 2
	}
	for _, st := range r.study.Stages {
		visit(st.Name, nil)
	}
}
