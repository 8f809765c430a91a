package studyfile

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
)

var (
	studyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	stageName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
)

// check checks everything about a study that needs no data.
func (r *reader) check() {
	s := r.study
	switch {
	case s.Study == "":
		r.found.Add(s.At, "start with `study: NAME`", "the study has no name")
	case !studyName.MatchString(s.Study):
		r.found.Add(s.Key("study"), "letters, digits, . - and _", "study name %s", decode.Quote(s.Study))
	}
	r.checkProviders()
	r.checkInputs()
	r.checkRubrics()
	r.checkStages()
	r.checkOrder()
	for _, a := range s.Analyses {
		if a.Of == "" && a.At.Line > 0 {
			r.found.Add(a.At, "add `of: STAGE`", "an analysis names no stage")
		} else if a.Of != "" {
			r.known(a.Key("of"), "stage", a.Of, r.stageNames())
		}
	}
	for _, e := range s.Require {
		r.compile(e, expr.Require)
	}
	r.checkBatch(s.Batch)
	if b := s.Batch; b.Size > 0 && b.Segments > 0 {
		r.found.Add(b.At, "", "batch: want one of size, segments")
	}
	if d := s.Deadline; d != nil && d.After == 0 && d.At != (assay.Place{}) && !r.found.Touch(d.At) {
		r.found.Add(d.At, "such as {after: 12h, then: live}", "deadline has no `after`")
	}
	for i, url := range s.Notify.List {
		if !variable.MatchString(url) {
			r.found.Add(s.Notify.Places[i], "write ${SLACK_URL} and set the variable",
				"a notification URL holds a secret and does not belong in a study")
		}
	}
}

// variable is a reference to the environment, which is the only form a secret may take in a study.
var variable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

func (r *reader) checkProviders() {
	for _, e := range r.study.Providers {
		if e.Value.Key != "" && !variable.MatchString(e.Value.Key) {
			r.found.Add(e.Value.Where.Key("key"), "write ${NAME} and set the variable",
				"the key of provider %s must be named, not written", e.Name)
		}
		if e.Value.BaseURL != "" && !strings.Contains(e.Value.BaseURL, "://") && !strings.HasPrefix(e.Value.BaseURL, "${") {
			r.found.Add(e.Value.Where.Key("base_url"), "such as http://127.0.0.1:8000/v1", "base_url %s is not a URL",
				decode.Quote(e.Value.BaseURL))
		}
		r.checkLive(e.Name, e.Value.Live)
	}
}

// checkBatch wants batches of one request or more.
func (r *reader) checkBatch(b study.Batch) {
	for key, n := range map[string]int{"size": b.Size, "segments": b.Segments} {
		if b.Has(key) && n < 1 && !r.Problems.Touch(b.Key(key)) {
			r.found.Add(b.Key(key), "leave it out for as large as providers take", "batch: %s: want at least 1, got %d", key, n)
		}
	}
}

// checkLive wants caps of live calls that can be kept. Rates and lengths of time have no negative form.
func (r *reader) checkLive(provider string, l study.Live) {
	if l.Concurrency < 0 {
		r.found.Add(l.Key("concurrency"), "leave it out for as many as the provider takes",
			"concurrency of provider %s: want at least 1, got %d", provider, l.Concurrency)
	}
	if l.Retries != nil && *l.Retries < 0 {
		r.found.Add(l.Key("retries"), "0: no request is asked again", "retries of provider %s: want at least 0, got %d",
			provider, *l.Retries)
	}
}

// known adds a problem when a name is not among the known ones, and reports whether it is.
func (r *reader) known(at assay.Place, what, name string, names []string) bool {
	if slices.Contains(names, name) {
		return true
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	hint := assay.DidYouMean(name, names)
	switch lane := what == "lane"; {
	case lane && slices.Contains([]string{"all", "any", "every", "everything"}, strings.ToLower(name)):
		hint = "`\"*\"` means all lanes"
	case lane && strings.Contains(name, "/"):
		hint = "lanes are named under `lanes`: add one with this model"
	case hint == "" && len(names) > 0 && len(names) <= 12:
		hint = assay.ThereAre(names)
	}
	r.found.Add(at, hint, "no %s is called %s", what, decode.Quote(name))
	return false
}

func (r *reader) stageNames() []string {
	names := make([]string, len(r.study.Stages))
	for i, s := range r.study.Stages {
		names[i] = s.Name
	}
	return names
}

// checkAnswerers adds a problem for names that pick no lane with answers, imported ones included.
func (r *reader) checkAnswerers(names study.Names) {
	for i, name := range names.List {
		if !slices.ContainsFunc(r.study.Elsewhere, func(l study.Lane) bool { return study.Picks(name, &l) }) {
			r.checkLaneNames(study.Names{List: []string{name}, Places: names.Places[i : i+1]})
		}
	}
}

func (r *reader) checkLaneNames(names study.Names) {
	for i, name := range names.List {
		wrong := func(spec study.LaneSpec) bool { return name == spec.Name || strings.HasPrefix(name, spec.Name+".") }
		if len(r.study.LanesNamed([]string{name})) > 0 || len(*r.Problems) > 0 && slices.ContainsFunc(r.study.LaneSpecs.List, wrong) {
			continue // a lane with a problem of its own is there
		}
		var known []string
		for _, l := range r.study.Lanes {
			known = append(known, l.Name, l.Group)
		}
		slices.Sort(known)
		r.known(names.Places[i], "lane", name, slices.Compact(known))
	}
}

func (r *reader) checkInputs() {
	names := r.study.Inputs.Names()
	for i := range r.study.Inputs {
		e := &r.study.Inputs[i]
		in := &e.Value
		if !stageName.MatchString(e.Name) {
			r.found.Add(e.At, "small letters, digits and _, starting with a letter", "input name %s", decode.Quote(e.Name))
		}
		if in.Of != "" {
			r.known(in.Key("of"), "input", in.Of, names)
		}
		for i, name := range in.All.List {
			r.known(in.All.Places[i], "input", name, names)
		}
		if in.Has("limit") && in.Limit < 1 && !r.found.Touch(in.Key("limit")) {
			r.found.Add(in.Key("limit"), "leave it out for all of them", "limit: want at least 1, got %d", in.Limit)
		}
		for _, j := range in.Join {
			if left, right, ok := strings.Cut(j.Match, "="); !ok || strings.TrimSpace(left) == "" || strings.TrimSpace(right) == "" {
				r.found.Add(j.Key("match"), "such as statement = id", "join: match must say left = right")
			}
		}
		in.Keep = r.compile(in.Filter, expr.Rows)
	}
}
