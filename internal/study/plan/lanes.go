package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/send/dialect"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// kind is the vendor whose API a lane's provider speaks.
func (d *Input) kind(l *study.Lane) (string, bool) {
	p, _ := d.Study.Providers.Find(l.Provider)
	return d.Catalog.Kind(l.Provider, p.Kind, p.BaseURL)
}

// Mode is how a lane's requests travel in a stage: the lane's word, else the stage's, else the study's, else batches.
func (d *Input) Mode(st *study.Stage, l *study.Lane) assay.Mode {
	m := cmp.Or(l.Mode, assay.Mode(st.Mode), assay.Mode(d.Study.Mode), assay.ModeBatch)
	if m != assay.ModeBatchElseLive {
		return m
	}
	if d.HasBatches(l) {
		return assay.ModeBatch
	}
	return assay.ModeLive
}

// HasBatches reports whether a lane's provider has batches.
func (d *Input) HasBatches(l *study.Lane) bool { return d.vendor(l).Batch }

func (d *Input) vendor(l *study.Lane) catalog.Vendor {
	kind, _ := d.kind(l)
	v, _ := d.Catalog.Vendor(kind)
	return v
}

// Route is how a lane's requests are written and what they cost.
type Route struct {
	Lane  assay.Lane // with the effective parameters
	Wire  assay.Wire
	Price catalog.Price // its zero value prices nothing

	how            catalog.Billing
	factor         float64
	expected, high int // output tokens
}

// Route is a lane's way in a mode.
func (d *Input) Route(l *study.Lane, mode assay.Mode) Route {
	kind, _ := d.kind(l)
	r := Route{Lane: l.Lane, how: catalog.Billing{Mode: mode}, factor: d.Catalog.TokenFactor(kind, l.Model)}
	r.Lane.Params = d.Catalog.Effective(l.Lane, kind)
	r.Wire = d.Catalog.Wire(r.Lane, kind, mode)
	if d.Study.PromptCache != nil && !*d.Study.PromptCache {
		r.Wire.CacheMarks, r.Wire.CacheKey = false, false
	}
	if mode == assay.ModeLive {
		r.Wire.Carrier = ""
		r.how.Tier = l.Params.ServiceTier
	}
	r.Price, _ = d.Catalog.Price(kind, l.Model)
	_, r.expected, r.high = d.Catalog.OutputGuess(r.Lane, kind)
	return r
}

// JudgeRoute is the way of a lane that judges by a rubric. It is asked for the form that the rubric reads, where its model can
// promise one, and its verdicts are as long as that form.
func (d *Input) JudgeRoute(l *study.Lane, mode assay.Mode, rubric judge.Rubric) Route {
	if schema := rubric.Answer(); schema != nil && l.Params.Schema == nil && d.Structured(l, schema) {
		own := *l
		own.Params.Schema = schema
		l = &own
	}
	r := d.Route(l, mode)
	if n := rubric.Length(); n.Expected > 0 {
		kind, _ := d.kind(l)
		_, r.expected, r.high = d.Catalog.OutputOf(r.Lane, kind, n.Low, n.Expected)
	}
	return r
}

// Structured reports whether a lane's model takes a schema for its answer.
func (d *Input) Structured(l *study.Lane, schema json.RawMessage) bool {
	kind, ok := d.kind(l)
	own := l.Lane
	own.Params.Schema = schema
	return ok && !slices.ContainsFunc(d.Catalog.Check(own, kind, d.Today), func(i catalog.Issue) bool { return i.Param == "schema" && !i.Warning })
}

// Estimate is what one request with so many bytes of prompt may cost.
func (r *Route) Estimate(bytes int) (expected, high assay.Cost) {
	in := round(float64(bytes) / bytesPerToken * r.factor)
	expected = r.Price.Bill(assay.Usage{Known: true, Input: in, Output: int64(r.expected)}, r.how)
	return expected, r.Price.Bill(assay.Usage{Known: true, Input: in + in/7, Output: int64(r.high)}, r.how)
}

// Bill is what a usage costs on this way.
func (r *Route) Bill(u assay.Usage) assay.Cost { return r.Price.Bill(u, r.how) }

// path is a lane's way through a stage, with the limits that cut it.
type path struct {
	lane   *study.Lane // with the effective parameters
	wire   assay.Wire
	mode   assay.Mode
	bounds Bounds
	line   int64 // most bytes of one line; 0: unknown
	window int   // most tokens the model reads; 0: unknown
}

func (d *Input) path(st *study.Stage, l *study.Lane) path {
	mode := d.Mode(st, l)
	r := d.Route(l, mode)
	effective := *l
	effective.Lane = r.Lane
	kind, _ := d.kind(l)
	p := path{lane: &effective, wire: r.Wire, mode: mode, window: d.Catalog.Find(kind, l.Model).Model.ContextIn}
	limits := d.vendor(l).Limits
	if mode == assay.ModeLive {
		p.line = limits.LiveBytes
		return p
	}
	frame := dialect.FrameOf(p.wire, l.Model)
	p.bounds = Bounds{
		Requests: limits.Requests, Bytes: limits.Bytes,
		Frame: int64(len(frame.Open) + len(frame.Close)), Between: int64(len(frame.Separator)),
	}
	p.line = limits.LineBytes
	if own, ok := d.Study.Providers.Find(l.Provider); ok {
		p.bounds.Requests = cmp.Or(own.Limits.Requests, p.bounds.Requests)
		p.bounds.Bytes = cmp.Or(own.Limits.Bytes, p.bounds.Bytes)
		p.line = cmp.Or(own.Limits.Line, p.line)
	}
	p.bounds = p.bounds.with(d.BatchOf(st))
	return p
}

// BatchOf says how a stage's segments are cut: its own word, else the study's.
func (d *Input) BatchOf(st *study.Stage) study.Batch {
	if st.Batch.Size > 0 || st.Batch.Segments > 0 {
		return st.Batch
	}
	return d.Study.Batch
}

// checkLanes holds every lane against the catalogue.
func (d *Input) checkLanes(problems *assay.Problems) {
	var vendors []string
	for _, v := range d.Catalog.Vendors() {
		vendors = append(vendors, v.Name)
	}
	vendors = append(vendors, d.Study.Providers.Names()...)
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
		if !ok {
			problems.Add(l.Where.Key("model"), cmp.Or(d.alsoCalled(l.Provider), assay.DidYouMean(l.Provider, vendors), "name it under `providers` with its `kind`; assay keys lists those that are known"),
				"lane %s: no provider is called %q", l.Name, l.Provider)
			continue
		}
		for _, issue := range d.Catalog.Check(l.Lane, kind, d.Today) {
			*problems = append(*problems, assay.Problem{
				Place: l.Where.Key(issue.Param), What: "lane " + l.Name + ": " + issue.What, Hint: issue.Hint, Warning: issue.Warning,
			})
		}
		d.checkMode(l, kind, problems)
	}
	d.checkEqual(problems)
}

// alsoCalled is a hint for those who name a provider by its models or its company.
func (d *Input) alsoCalled(name string) string {
	ours := d.Catalog.Called(name)
	if len(ours) == 0 {
		return ""
	}
	return "it is called " + strings.Join(ours, ", or ") + " here"
}

func (d *Input) checkMode(l *study.Lane, kind string, problems *assay.Problems) {
	if d.vendor(l).Batch {
		return
	}
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if d.Mode(st, l) == assay.ModeBatch && slices.Contains(d.uses(st), l) {
			problems.Add(l.Where.Key("mode"), "mode: live on the lane; or for all of them mode: batch-else-live, or --mode batch-else-live", "lane %s: %s has no batches", l.Name, kind)
			return
		}
	}
}

// uses are the lanes that a stage sends requests to.
func (d *Input) uses(st *study.Stage) []*study.Lane {
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
func (d *Input) checkEqual(problems *assay.Problems) {
	seen := map[string][]*study.Lane{}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
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
func (d *Input) meet(a, b *study.Lane) bool {
	for i := range d.Study.Stages {
		if uses := d.uses(&d.Study.Stages[i]); slices.Contains(uses, a) && slices.Contains(uses, b) {
			return true
		}
	}
	return false
}

// NotAsked names the lanes that a stage does not ask because they judge somewhere. A stage that names its lanes leaves
// out what it wants to.
func (d *Input) NotAsked(st *study.Stage) []string {
	if st.Verb() != study.VerbAsk || len(st.Lanes.Among.List) > 0 {
		return nil
	}
	asked := d.Study.Contestants(st)
	var out []string
	for i := range d.Study.Lanes {
		if l := &d.Study.Lanes[i]; !slices.Contains(asked, l) {
			out = append(out, l.Name)
		}
	}
	return out
}

// checkAsked adds a problem for a stage that asks no lane, because all of them judge.
func (d *Input) checkAsked(st *study.Stage, problems *assay.Problems) {
	if n := len(d.NotAsked(st)); n > 0 && n == len(d.Study.Lanes) {
		problems.Add(st.At, "`lanes: \"*\"` asks lanes that judge, too", "stage %s asks no lane: all of them judge, and such lanes are not asked unless named", st.Name)
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
