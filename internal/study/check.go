package study

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
)

var (
	studyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	stageName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
)

// check checks everything about a study that needs no data.
func (r *run) check() {
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
		r.known(a.Key("of"), "stage", a.Of, r.stageNames())
	}
	for _, e := range s.Require {
		r.compile(e, expr.Require)
	}
	if b := s.Batch; b.Size > 0 && b.Segments > 0 {
		r.found.Add(b.At, "", "batch: want one of size, segments")
	}
	if d := s.Deadline; d != nil && d.After == 0 {
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

func (r *run) checkProviders() {
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

// checkLive wants caps of live calls that can be kept. Rates and lengths of time have no negative form.
func (r *run) checkLive(provider string, l Live) {
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
func (r *run) known(at assay.Place, what, name string, names []string) bool {
	if slices.Contains(names, name) {
		return true
	}
	hint := assay.DidYouMean(name, names)
	if hint == "" && len(names) > 0 && len(names) <= 12 {
		hint = assay.ThereAre(names)
	}
	r.found.Add(at, hint, "no %s is called %s", what, decode.Quote(name))
	return false
}

func (r *run) stageNames() []string {
	names := make([]string, len(r.study.Stages))
	for i, s := range r.study.Stages {
		names[i] = s.Name
	}
	return names
}

// Stage returns the stage of a name.
func (s *Study) Stage(name string) (*Stage, bool) {
	for i := range s.Stages {
		if s.Stages[i].Name == name {
			return &s.Stages[i], true
		}
	}
	return nil, false
}

// Controlled reports whether some conversations of a stage are a control: its own, or that of a stage which it
// continues.
func (s *Study) Controlled(st *Stage) bool {
	for range s.Stages { // in a circle there is no end
		if st.Control != nil && st.Control.On {
			return true
		}
		from, ok := s.Stage(st.Continue)
		if !ok {
			break
		}
		st = from
	}
	return false
}

// Lane returns the lane of a name.
func (s *Study) Lane(name string) (*Lane, bool) {
	for i := range s.Lanes {
		if s.Lanes[i].Name == name {
			return &s.Lanes[i], true
		}
	}
	return nil, false
}

// LanesNamed returns the lanes that names and globs pick, in the order of the study. A group's name picks all its
// lanes.
func (s *Study) LanesNamed(names []string) []*Lane {
	var out []*Lane
	for i := range s.Lanes {
		l := &s.Lanes[i]
		if slices.ContainsFunc(names, func(n string) bool { return Picks(n, l) }) {
			out = append(out, l)
		}
	}
	return out
}

// Picks reports whether a name means a lane: its own, its group's, the beginning of it up to a dot, or a glob.
func Picks(name string, l *Lane) bool {
	if name == l.Name || name == l.Group || strings.HasPrefix(l.Name, name+".") {
		return true
	}
	ok, err := path.Match(name, l.Name)
	return err == nil && ok
}

// judging reports whether a lane is named as a judge anywhere.
func (s *Study) judging(l *Lane) bool {
	for _, st := range s.Stages {
		if st.Fallback != "" && Picks(st.Fallback, l) ||
			slices.ContainsFunc(st.Judges.List, func(n string) bool { return n != "*" && Picks(n, l) }) {
			return true
		}
	}
	return false
}

// Contestants returns the lanes whose answers a stage gives: those it names, or all that judge nowhere; those of the
// stage it goes on with; those that its rows name.
func (s *Study) Contestants(st *Stage) []*Lane {
	if st.Import != nil {
		return s.imported(st)
	}
	if from, ok := s.Stage(st.Continue); ok && from != st && len(st.Lanes.Among.List) == 0 {
		return s.Contestants(from)
	}
	if len(st.Lanes.Among.List) > 0 {
		return s.LanesNamed(st.Lanes.Among.List)
	}
	var out []*Lane
	for i := range s.Lanes {
		if !s.judging(&s.Lanes[i]) {
			out = append(out, &s.Lanes[i])
		}
	}
	return out
}

// checkAnswerers adds a problem for names that pick no lane with answers, imported ones included.
func (r *run) checkAnswerers(names Names) {
	for i, name := range names.List {
		if !slices.ContainsFunc(r.study.Elsewhere, func(l Lane) bool { return Picks(name, &l) }) {
			r.checkLaneNames(Names{List: []string{name}, Places: names.Places[i : i+1]})
		}
	}
}

func (r *run) checkLaneNames(names Names) {
	for i, name := range names.List {
		if len(r.study.LanesNamed([]string{name})) > 0 {
			continue
		}
		var known []string
		for _, l := range r.study.Lanes {
			known = append(known, l.Name, l.Group)
		}
		slices.Sort(known)
		r.known(names.Places[i], "lane", name, slices.Compact(known))
	}
}
