package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"assay"
	"assay/catalog"
	"assay/dialect"
	"assay/study"
)

// kind is the vendor whose API a lane's provider speaks.
func (d *Desk) kind(l *study.Lane) (string, bool) {
	p, _ := d.Study.Providers.Find(l.Provider)
	return d.Catalog.Kind(l.Provider, p.Kind, p.BaseURL)
}

// mode is how a lane's requests travel in a stage: the lane's word, else the stage's, else the study's, else batches.
func (d *Desk) mode(st *study.Stage, l *study.Lane, v catalog.Vendor) assay.Mode {
	m := cmp.Or(l.Mode, assay.Mode(st.Mode), assay.Mode(d.Study.Mode), assay.ModeBatch)
	if m == assay.ModeBatchElseLive {
		if v.Batch {
			return assay.ModeBatch
		}
		return assay.ModeLive
	}
	return m
}

// route is a lane's way through a stage. The lane's parameters become the effective ones.
func (d *Desk) route(st *study.Stage, l *study.Lane) route {
	kind, _ := d.kind(l)
	v, _ := d.Catalog.Vendor(kind)
	effective := *l
	effective.Params = d.Catalog.Effective(l.Lane, kind)
	r := route{lane: &effective, mode: d.mode(st, l, v)}
	r.wire = d.Catalog.Wire(effective.Lane, kind, r.mode)
	if d.Study.PromptCache != nil && !*d.Study.PromptCache {
		r.wire.CacheMarks, r.wire.CacheKey = false, false
	}
	if r.mode == assay.ModeLive {
		r.wire.Carrier = ""
		r.line = v.Limits.LiveBytes
		return r
	}
	frame := dialect.FrameOf(r.wire, l.Model)
	r.bounds = Bounds{
		Requests: v.Limits.Requests, Bytes: v.Limits.Bytes,
		Frame: int64(len(frame.Open) + len(frame.Close)), Between: int64(len(frame.Separator)),
	}
	r.line = v.Limits.LineBytes
	if p, ok := d.Study.Providers.Find(l.Provider); ok {
		r.bounds.Requests = cmp.Or(p.Limits.Requests, r.bounds.Requests)
		r.bounds.Bytes = cmp.Or(p.Limits.Bytes, r.bounds.Bytes)
		r.line = cmp.Or(p.Limits.Line, r.line)
	}
	batch := d.Study.Batch
	if st.Batch.Size > 0 || st.Batch.Segments > 0 {
		batch = st.Batch
	}
	r.bounds = r.bounds.with(batch)
	return r
}

// checkLanes holds every lane against the catalogue.
func (d *Desk) checkLanes(problems *assay.Problems) {
	var vendors []string
	for _, v := range d.Catalog.Vendors() {
		vendors = append(vendors, v.Name)
	}
	vendors = append(vendors, d.Study.Providers.Names()...)
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
		if !ok {
			problems.Add(l.Where.Key("model"), cmp.Or(assay.DidYouMean(l.Provider, vendors), "name it under `providers` with its `kind`"),
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

func (d *Desk) checkMode(l *study.Lane, kind string, problems *assay.Problems) {
	v, _ := d.Catalog.Vendor(kind)
	if v.Batch {
		return
	}
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if d.mode(st, l, v) == assay.ModeBatch && slices.Contains(d.uses(st), l) {
			problems.Add(l.Where.Key("mode"), "add mode: live to the lane, or mode: batch-else-live to the study", "lane %s: %s has no batches", l.Name, kind)
			return
		}
	}
}

// uses are the lanes that a stage sends requests to.
func (d *Desk) uses(st *study.Stage) []*study.Lane {
	switch st.Verb() {
	case study.VerbAsk, study.VerbContinue:
		return d.Study.Contestants(st)
	case study.VerbJudge, study.VerbCompare:
		return d.Study.LanesNamed(st.Judges.List)
	}
	return nil
}

// checkEqual adds a problem for two lanes that would send the same requests.
func (d *Desk) checkEqual(problems *assay.Problems) {
	seen := map[string]*study.Lane{}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
		if !ok {
			continue
		}
		id := fingerprint(l, d.Catalog.Effective(l.Lane, kind))
		if first, ok := seen[id]; ok {
			problems.Add(l.At, "a repeat is `repeats: 2` on the stage", "lanes %s and %s send the same requests", first.Name, l.Name)
			continue
		}
		seen[id] = l
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
		return l.Name // a schema that is no JSON was told when the study was read
	}
	return string(text)
}
