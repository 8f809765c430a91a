package methods

import (
	"maps"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/answers"
	"assay/internal/find/analysis/contests"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// bias puts what is known of the bias of each judge into one table, with what to do about it.
type bias struct {
	gather.Job
	inner []gather.Collector
	cover gather.Groups[struct{}]
}

func newBias(j gather.Job) *bias {
	b := &bias{Job: j, cover: gather.NewGroups([]string{analysis.ByJudge}, func() struct{} { return struct{}{} })}
	of := func(m analysis.Method, by ...string) gather.Job {
		own := j
		own.Spec = analysis.Spec{Stage: j.Spec.Stage, Method: m, By: by, Settings: j.Spec.Settings}
		return own
	}
	if j.Stage.Verb == analysis.Compared {
		c := contests.New(of(analysis.Position, analysis.ByJudge))
		c.Also(analysis.Spec{Method: analysis.Consistency})
		b.inner = append(b.inner, c)
	}
	if j.Stage.Lengths && !j.Stage.Items {
		b.inner = append(b.inner, answers.NewLengths(of(analysis.Length, analysis.ByJudge)))
	}
	if len(j.Stage.Judges) > 1 && j.Stage.Verb == analysis.Judged {
		b.inner = append(b.inner, answers.NewJudges(of(analysis.JudgeBias)))
	}
	b.inner = append(b.inner, answers.NewRepeats(of(analysis.JudgeBias, analysis.ByJudge)))
	return b
}

func (b *bias) skips(r *analysis.Row) bool { return r.Person() && b.Stage.Machines() }

func (b *bias) Expect(r *analysis.Row) {
	if b.skips(r) {
		return
	}
	b.cover.Expect(r)
	for _, c := range b.inner {
		c.Expect(r)
	}
}

func (b *bias) Add(r *analysis.Row) {
	if b.skips(r) {
		return
	}
	b.cover.Of(r).Cover.Count(r)
	for _, c := range b.inner {
		c.Add(r)
	}
}

// remedy is a kind of bias: the value that a judge without it has, and what to do about one that has it.
type remedy struct {
	what string
	verb analysis.Verb // of the stages that show it; empty: all
	none float64
	do   string

	asked bool // where it is not known, that is not told: few judges are asked for it
}

// remedies lists the kinds of bias in the order of the table.
func remedies() []remedy {
	return []remedy{
		{analysis.WhatFirst, analysis.Compared, 0.5, "show each pair both ways (order: both)", false},
		{analysis.WhatConsistency, analysis.Compared, 1, "count a pair whose two orders disagree as a tie (corrected wins)", false},
		{analysis.WhatLength, "", 0, "rank without style (control: [length]); of single answers, labels of people correct it", false},
		{analysis.WhatFamily, "", 0, "take a judge of another family, or several; labels of people correct it", false},
		{analysis.WhatFavours, "", 0, "corrected numbers are free of it; more labels make them narrower", false},
		{analysis.WhatConfidence, "", 0, "do not choose or weigh verdicts by the judge's confidence", true},
		{analysis.WhatRepeats, "", 0, "ask the judge several times (repeats on its stage) and take the majority", false},
	}
}

func (b *bias) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "judge bias", By: []string{analysis.ByJudge, analysis.ByLane}, Coverage: b.cover.Totals()}
	found := b.labelled()
	for _, c := range b.inner {
		inner, err := c.Tables()
		if err != nil {
			return nil, err
		}
		for i := range inner {
			found = append(found, inner[i].Findings...)
			for _, note := range inner[i].Notes { // what they leave out
				t.Note("%s", note)
			}
		}
	}
	for _, r := range remedies() {
		for i := range found {
			if f := &found[i]; f.What == r.what && !slices.ContainsFunc(t.Findings, func(o analysis.Finding) bool {
				return o.What == f.What && slices.Equal(o.By, f.By) // labels of people know better than other judges
			}) {
				if f.Interval.LeavesOut(r.none) {
					f.Note("biased: %s", r.do)
				}
				t.Findings = append(t.Findings, *f)
			}
		}
		if !r.asked && (r.verb == "" || r.verb == b.Stage.Verb) &&
			!slices.ContainsFunc(t.Findings, func(f analysis.Finding) bool { return f.What == r.what && f.Value.OK }) {
			t.Note("%s: not known. If it does: %s", analysis.Called(r.what), r.do)
		}
	}
	return []analysis.Table{t}, nil
}

// labelled returns what drawn labels show of each judge: what it favours, lane by lane, and its own family.
func (b *bias) labelled() (out []analysis.Finding) {
	for _, name := range slices.Sorted(maps.Keys(b.Stage.CheckedBy)) {
		c := b.Stage.CheckedBy[name]
		if c == nil || c.Corrected == nil {
			continue
		}
		finding := func(what string, by ...analysis.Value) analysis.Finding {
			return analysis.Finding{What: what, Unit: c.Unit(), By: append([]analysis.Value{{Field: analysis.ByJudge, Value: name}}, by...),
				Coverage: b.cover.Totals(), N: c.Labels, Clusters: c.Corrected.Labelled, Rule: b.Stage.CountingRule(),
				Bounds: stats.NoInterval("not computed"), Method: "among answers that people call alike, Student, by cluster"}
		}
		family := b.Stage.Families[name]
		own := finding(analysis.WhatFamily)
		own.Value, own.SE, own.Interval = c.FavoursSome(func(lane string) bool { return family != "" && b.Stage.Families[lane] == family },
			b.Options.Level)
		if own.Value.OK {
			out = append(out, own)
		}
		if c.Over.OK {
			sure := finding(analysis.WhatConfidence)
			sure.Unit, sure.N, sure.Value, sure.Interval = analysis.Share, c.Sure, c.Over, c.OverInterval
			sure.SE, sure.Method = stats.Undefined("not computed"), "confidence minus share right, on drawn labels, Student, by cluster"
			out = append(out, sure)
		}
		for _, e := range c.OnLanes {
			f := finding(analysis.WhatFavours, analysis.Value{Field: analysis.ByLane, Value: c.Lanes[e.Lane]})
			f.Value, f.SE, f.Interval, f.P = e.Favour.Value, e.Favour.SE, e.FavourInterval, e.Favour.P
			f.N, f.Clusters = e.Labels, e.Clusters
			out = append(out, f)
		}
	}
	return out
}
