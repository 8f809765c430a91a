package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
)

// checkLanes holds every lane against the catalogue.
func (d checker) checkLanes(problems *assay.Problems) {
	var vendors []string
	for _, v := range d.Catalog.Vendors() {
		vendors = append(vendors, v.Name)
	}
	vendors = append(vendors, d.Study.Providers.Names()...)
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.Kind(l)
		if !ok {
			problems.Add(l.Where.Key("model"), cmp.Or(d.alsoCalled(l.Provider), assay.DidYouMean(l.Provider, vendors),
				"name it under `providers` with its `kind`; assay list keys lists those that are known"),
				"lane %s: no provider is called %q", l.Name, l.Provider)
			continue
		}
		own := l.Lane
		own.Mode = cmp.Or(own.Mode, assay.Mode(d.Study.Mode))
		for _, issue := range d.Catalog.Check(own, kind, d.Today) {
			*problems = append(*problems, assay.Problem{
				Place: l.Where.Key(issue.Param), What: "lane " + l.Name + ": " + issue.What, Hint: issue.Hint, Warning: issue.Warning,
				Lane: l.Name,
			})
		}
		d.checkMode(l, kind, problems)
	}
	checkServed(d, problems)
	d.checkEqual(problems)
}

// alsoCalled returns a hint for those who name a provider by its models or its company.
func (d checker) alsoCalled(name string) string {
	ours := d.Catalog.Called(name)
	if len(ours) == 0 {
		return ""
	}
	return "it is called " + strings.Join(ours, ", or ") + " here"
}

func (d checker) checkMode(l *study.Lane, kind string, problems *assay.Problems) {
	d.checkFlex(l, problems)
	if d.Vendor(l).Batch {
		return
	}
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if d.Mode(st, l) == assay.ModeBatch && slices.Contains(d.uses(st), l) {
			problems.Add(l.Where.Key("mode"), "mode: live on the lane; or for all of them mode: batch-else-live, or --mode batch-else-live",
				"lane %s: %s has no batches", l.Name, kind)
			return
		}
	}
}

// checkFlex adds a problem for a lane that is to go in the flex tier of a provider that has none, or asks for another one, too.
func (d checker) checkFlex(l *study.Lane, problems *assay.Problems) {
	v := d.Vendor(l)
	has := slices.Contains(v.ServiceTiers, assay.TierFlex) || slices.Contains(v.ServiceTiers, "*")
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		wished := d.Wish(st, l) == assay.ModeFlex
		switch tier := d.Tier(st, l); {
		case tier != assay.TierFlex || !slices.Contains(d.uses(st), l):
			continue
		case !has && wished:
			problems.Add(l.Where.Key("mode"), "mode: batch or mode: live on the lane", "lane %s: %s has no flex tier", l.Name, v.Title)
		case !has && l.Params.ServiceTier != assay.TierFlex:
			problems.Add(d.Study.Deadline.Key("then"), "then: live, or then: stop", "lane %s: %s has no flex tier", l.Name, v.Title)
		case has && wished && l.Params.ServiceTier != "" && l.Params.ServiceTier != assay.TierFlex:
			problems.Add(l.Where.Key("service_tier"), "leave one of them out",
				"lane %s: mode flex asks for service tier flex, and the lane for %s", l.Name, l.Params.ServiceTier)
		default:
			continue
		}
		return
	}
}

// uses returns the lanes that a stage sends requests to.
func (d checker) uses(st *study.Stage) []*study.Lane {
	switch st.Verb() {
	case study.VerbAsk, study.VerbContinue:
		return d.Study.Contestants(st)
	case study.VerbJudge, study.VerbCompare:
		return d.Study.LanesNamed(append(slices.Clone(st.Judges.List), st.Fallback))
	}
	return nil
}

// checkEqual adds a problem for two lanes that would send the same requests: those of one stage. A lane that answers and
// one that judges may be alike.
func (d checker) checkEqual(problems *assay.Problems) {
	seen := map[string][]*study.Lane{}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		id := fingerprint(l, d.Catalog.Effective(l.Lane, kind))
		if i := slices.IndexFunc(seen[id], func(first *study.Lane) bool { return d.meet(first, l) }); i >= 0 {
			problems.Add(l.At, "a repeat is `repeats: 2` on the stage", "lanes %s and %s send the same requests", seen[id][i].Name, l.Name)
			continue
		}
		seen[id] = append(seen[id], l)
	}
}

// meet reports whether a stage sends requests to both lanes.
func (d checker) meet(a, b *study.Lane) bool {
	for i := range d.Study.Stages {
		if uses := d.uses(&d.Study.Stages[i]); slices.Contains(uses, a) && slices.Contains(uses, b) {
			return true
		}
	}
	return false
}

// checkAsked adds a problem for a stage that asks no lane, because all of them judge.
func (d checker) checkAsked(st *study.Stage, problems *assay.Problems) {
	if n := len(d.NotAsked(st)); n > 0 && n == len(d.Study.Lanes) {
		problems.Add(st.At, "`lanes: \"*\"` asks lanes that judge, too",
			"stage %s asks no lane: all of them judge, and such lanes are not asked unless named", st.Name)
	}
}

func fingerprint(l *study.Lane, p assay.Params) string {
	if p.Schema != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, p.Schema) == nil {
			p.Schema = compact.Bytes()
		}
	}
	text, err := json.Marshal(struct {
		Provider, Model, API string
		Mode                 assay.Mode
		Params               assay.Params
	}{l.Provider, l.Model, l.API, l.Mode, p})
	if err != nil {
		return l.Name // a schema that is no JSON was reported when the study was read
	}
	return string(text)
}
