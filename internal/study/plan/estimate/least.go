package estimate

import (
	"cmp"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// fewest looks whether a part has as many requests as a batch of its provider must have. One that has fewer goes live where the
// study lets it, and so does one of a later wave, whose size is known too late to ask; else it is a problem.
func (m *maker) fewest(st *study.Stage, p *plan.Part) {
	v, l := m.in.Vendor(p.Lane), p.Lane
	least := int64(v.Limits.Least)
	if own, ok := m.in.Study.Providers.Find(l.Provider); ok && own.Limits.Least > 0 {
		least = int64(own.Limits.Least)
	}
	if p.Mode != assay.ModeBatch || least == 0 {
		return
	}
	n := cmp.Or(p.First, p.Requests)
	if p.Turn <= 1 && m.canary() {
		n-- // the canary goes live
	}
	if n >= least {
		m.fewestEach(st, p, n, least)
		return
	}
	wish := m.in.Wish(st, l)
	if wish != assay.ModeBatchElseLive && p.Wave == 1 {
		m.problems.Add(l.Where.Key("mode"), "mode: batch-else-live, or --mode batch-else-live, sends them one by one at the full price",
			"lane %s: stage %s has %s for a batch, and %s takes none of fewer than %d", l.Name, st.Name, plural(n, "request"),
			v.Title, least)
		return
	}
	p.Mode, p.Segments = assay.ModeLive, nil
	m.note("lane %s: %s of stage %s %s live at the full price, because %s takes no batch of fewer than %d",
		l.Name, plural(p.Requests, "request"), st.Name, assay.Verb(p.Requests, "goes", "go"), v.Title, least)
}

// goLive notes which requests of a part that travels in batches go live: a canary, and few of a later wave, alone or left over.
func (m *maker) goLive(p *plan.Part) {
	if p.Mode != assay.ModeBatch {
		return
	}
	if p.Turn <= 1 && m.canary() && !m.primes(p) {
		p.Canary = 1
	}
	if p.Wave == 1 {
		return
	}
	p.Few = int64(m.in.Study.FewLive())
	p.Rest = max(0, p.Few-1) * int64(max(1, p.Rounds))
	if p.First > 0 && p.First < p.Few { // every round has so few
		p.Few, p.Rest = p.Requests+1, p.Requests
	}
}

// canary reports whether one request of each lane and stage goes live first.
func (m *maker) canary() bool {
	return !m.options.NoCanary && (m.in.Study.Canary == nil || *m.in.Study.Canary)
}

// fewestEach is a problem where the study cuts batches that are too small.
func (m *maker) fewestEach(st *study.Stage, p *plan.Part, n, least int64) {
	batch := m.in.BatchOf(st)
	each := least
	switch {
	case batch.Size > 0:
		each = int64(batch.Size)
	case batch.Segments > 0:
		each = n / int64(batch.Segments)
	}
	if each < least {
		m.problems.Add(p.Lane.Where.Key("mode"), "make batch: {size} larger, or {segments} fewer",
			"lane %s: stage %s is cut into batches of %s, and %s takes none of fewer than %d", p.Lane.Name, st.Name,
			plural(each, "request"), m.in.Vendor(p.Lane).Title, least)
	}
}
