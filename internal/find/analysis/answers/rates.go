// Package answers analyses verdicts on single answers: rates and means, differences between lanes, items, judges and
// their validity, lengths, repeated draws.
package answers

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// maxLabels is how many labels a table lists; a rubric whose labels are free text has no shares worth a line each.
const maxLabels = 50

// rates gathers label shares and mean scores.
type rates struct {
	gather.Job
	yes     []string
	labels  gather.Names
	groups  gather.Groups[*rateSums]
	pairing *gather.Pairing // nil: lanes are not distinguished

	labelled, scored, expected bool // some verdict has a label, a score, an expected label beside its own
}

// rateSums are the sums of one group, cluster by cluster.
type rateSums struct {
	clusters       gather.Places
	n, yes         gather.Counts // rows with a label
	known, matches gather.Counts // rows with an expected label; of them, those that have it
	scored         gather.Counts
	score          []float64
	labels         []gather.Counts // by label
	order          []int           // places in the order of the clusters' names, when all rows are there

	wholeN, wholeYes, wholeExpected, wholeMayMatch, wholeScored int // the same without refused and cut answers
	wholeScore                                                  float64
	wholeLabels                                                 []int
}

// NewRates returns the collector of label shares and mean scores, with differences between lanes.
func NewRates(j gather.Job) gather.Collector {
	r := &rates{Job: j, yes: j.Stage.Yes()}
	for _, l := range j.Stage.Labels {
		r.labels.Of(l.Name)
	}
	r.groups = gather.NewGroups(j.Spec.By, func() *rateSums { return &rateSums{} })
	if slices.Contains(j.Spec.By, analysis.ByLane) {
		r.pairing = gather.NewPairing(j, j.Spec.By)
	}
	return r
}

func (s *rates) keeps(r *analysis.Row) bool {
	return !s.Stage.Flips || !s.Stage.IsControl(r.Branch) || slices.Contains(s.Spec.By, analysis.ByBranch)
}

func (s *rates) Expect(r *analysis.Row) {
	if s.keeps(r) {
		s.groups.Expect(r)
	}
}

func (s *rates) Add(r *analysis.Row) {
	if !s.keeps(r) {
		return
	}
	g := s.groups.Of(r)
	g.Cover.Count(r)
	if !r.Valid() {
		return
	}
	s.labelled, s.scored = s.labelled || r.Label != "", s.scored || r.Score != nil
	s.expected = s.expected || r.Label != "" && r.Expect != ""
	label := -1
	if _, seen := s.labels.Index[r.Label]; r.Label != "" && (seen || len(s.labels.List) < maxLabels) {
		label = int(s.labels.Of(r.Label))
	}
	yes := slices.Contains(s.yes, r.Label)
	g.Data.add(r, s.Known.Of(r.ClusterName()), label, yes)
	if s.pairing != nil {
		s.pairing.Add(r, yes, len(s.yes) > 0 && r.Label != "")
	}
}

func (s *rateSums) add(r *analysis.Row, cluster uint32, label int, yes bool) {
	k := s.clusters.Of(cluster)
	labelled := r.Label != ""
	matches := labelled && r.Label == r.Expect
	s.n.AddIf(labelled, k)
	s.yes.AddIf(yes, k)
	s.known.AddIf(labelled && r.Expect != "", k)
	s.matches.AddIf(matches, k)
	if r.Score != nil {
		s.scored.Add(k)
		s.score = gather.Grown(s.score, k)
		s.score[k] += *r.Score
	}
	if label >= 0 {
		s.labels = gather.Grown(s.labels, label)
		s.labels[label].Add(k)
	}
	if r.Whole() {
		s.addWhole(r, label, yes, matches)
	}
}

func (s *rateSums) addWhole(r *analysis.Row, label int, yes, matches bool) {
	s.wholeN += int(gather.One(r.Label != ""))
	s.wholeYes += int(gather.One(yes))
	s.wholeExpected += int(gather.One(matches))
	s.wholeMayMatch += int(gather.One(r.Label != "" && r.Expect != ""))
	if r.Score != nil {
		s.wholeScored++
		s.wholeScore += *r.Score
	}
	if label >= 0 {
		s.wholeLabels = gather.Grown(s.wholeLabels, label)
		s.wholeLabels[label]++
	}
}

// sort puts the clusters in the order of their names, so that resampling does not depend on the order of rows.
func (s *rateSums) sort(clusters *gather.Names) {
	ids, rank := s.clusters.IDs, clusters.ByText()
	s.order = make([]int, len(ids))
	for k := range s.order {
		s.order[k] = k
	}
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Compare(rank[ids[a]], rank[ids[b]]) })
}

// shares returns the counts of each cluster in their order.
func (s *rateSums) shares(k, n *gather.Counts) []stats.Count {
	out := make([]stats.Count, len(s.order))
	for i, c := range s.order {
		out[i] = stats.Count{K: k.At(c), N: n.At(c)}
	}
	return out
}

func (s *rates) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "rates", Coverage: s.groups.Totals()}
	shown := s.shownLabels()
	for _, g := range s.groups.Sorted() {
		found, err := s.findings(g, shown)
		if err != nil {
			return nil, err
		}
		t.Findings = append(t.Findings, found...)
		g.Data = nil // what was kept of it has been reported
	}
	if len(s.yes) > 0 {
		t.Counted = s.yes
		t.Note("rate: share of %s", strings.Join(s.yes, " or "))
	}
	if s.Stage.Each && !s.Spec.ForLeaderboard && !slices.Contains(s.Spec.By, analysis.ByTurn) {
		t.Note("first answers and those under pressure are counted together here: --by lane,branch,turn takes them apart")
	}
	if len(s.labels.List) >= maxLabels {
		t.Note("more than %d labels: their shares are not listed", maxLabels)
	}
	if s.pairing == nil {
		return []analysis.Table{t}, nil
	}
	if err := s.leaderboard(&t); err != nil {
		return nil, err
	}
	out := []analysis.Table{t}
	differences, err := s.differences()
	if differences != nil {
		out = append(out, *differences)
	}
	return out, err
}

// shownLabels returns the labels whose shares are listed: those of the rubric in its order, then others by name.
func (s *rates) shownLabels() []int {
	if len(s.labels.List) >= maxLabels {
		return nil
	}
	var out, others []int
	for i := range s.labels.List {
		if i < len(s.Stage.Labels) {
			out = append(out, i)
		} else {
			others = append(others, i)
		}
	}
	slices.SortFunc(others, func(a, b int) int { return analysis.Natural(s.labels.List[a], s.labels.List[b]) })
	return append(out, others...)
}

func (s *rates) findings(g *gather.Group[*rateSums], labels []int) ([]analysis.Finding, error) {
	var out []analysis.Finding
	d := g.Data
	d.sort(s.Known)
	put := func(what string, counts []stats.Count, wholeK, wholeN int) error {
		e, err := gather.Share(counts, s.Options.Level)
		if err != nil {
			return err
		}
		f := analysis.Finding{What: what, Unit: analysis.Share}
		k := 0
		for _, c := range counts {
			k += c.K
		}
		e.Put(&f)
		f.Bounds = stats.MissingBounds(k, f.N-k, g.Cover.WithMissing().Unknown())
		f.Other = other(f.N, wholeN, gather.Ratio(float64(wholeK), wholeN))
		if left := g.Cover.Excluded; left > 0 {
			f.Other = s.asWorst(what, k, f.N, left)
		}
		out = append(out, f)
		return nil
	}
	if s.scoresAlone() {
		labels = nil
	} else if err := s.headline(d, put); err != nil {
		return nil, err
	}
	for _, l := range labels {
		var given gather.Counts
		if l < len(d.labels) {
			given = d.labels[l]
		}
		whole := 0
		if l < len(d.wholeLabels) {
			whole = d.wholeLabels[l]
		}
		if err := put(s.labels.List[l], d.shares(&given, &d.n), whole, d.wholeN); err != nil {
			return nil, err
		}
	}
	if s.scored && (!s.binary() || s.scoresAlone()) {
		out = append(out, s.mean(g))
	}
	for i := range out {
		out[i].By, out[i].Coverage, out[i].Rule = g.By(s.Spec.By), g.Cover.WithMissing(), s.Stage.CountingRule()
	}
	return out, nil
}

// headline is the rate of the stage: of the labels that score, else of the expected one; none where neither is known.
func (s *rates) headline(d *rateSums, put func(string, []stats.Count, int, int) error) error {
	if len(s.yes) > 0 {
		return put(analysis.WhatRate, d.shares(&d.yes, &d.n), d.wholeYes, d.wholeN)
	}
	if !s.expected {
		return nil
	}
	return put(analysis.WhatRate, d.shares(&d.matches, &d.known), d.wholeExpected, d.wholeMayMatch)
}

// mean returns the mean score.
func (s *rates) mean(g *gather.Group[*rateSums]) analysis.Finding {
	d := g.Data
	totals, n, sum := make([]stats.Total, 0, len(d.order)), 0, 0.0
	for _, k := range d.order {
		if scored := d.scored.At(k); scored > 0 {
			totals = append(totals, stats.Total{N: scored, Sum: d.score[k]})
			n, sum = n+scored, sum+d.score[k]
		}
	}
	e := gather.Mean(totals, s.Options.Level)
	e.Interval = e.Interval.Clipped(s.Stage.Low, s.Stage.High)
	f := analysis.Finding{What: analysis.WhatMean, Unit: analysis.Score, Bounds: s.scoreBounds(n, sum, g.Cover.WithMissing().Unknown())}
	e.Put(&f)
	f.Other = other(n, d.wholeScored, gather.Ratio(d.wholeScore, d.wholeScored))
	if left := g.Cover.Excluded; left > 0 && s.Stage.Worst != nil {
		f.Other = &analysis.OtherRule{Rule: countedWorst, Value: stats.Known((sum + float64(left)**s.Stage.Worst) / float64(n+left)),
			N: n + left}
	}
	return f
}

// scoresAlone reports whether no verdict has a label: the rubric gives none, or the mean of several verdicts has lost
// it.
func (s *rates) scoresAlone() bool { return s.scored && !s.labelled }

// binary reports whether the mean score is the rate over again.
func (s *rates) binary() bool {
	return len(s.yes) > 0 && !slices.ContainsFunc(s.Stage.Labels, func(l analysis.Label) bool { return *l.Score != 0 && *l.Score != 1 })
}

// scoreBounds returns where the mean must lie if the missing scores were known.
func (s *rates) scoreBounds(n int, sum float64, missing int) stats.Interval {
	low, high := s.Stage.Low, s.Stage.High
	switch {
	case n+missing == 0:
		return stats.NoInterval("no scores, and none missing")
	case missing > 0 && (low == nil || high == nil):
		return stats.NoInterval("the score has no bounds")
	case missing == 0:
		return stats.Between(sum/float64(n), sum/float64(n))
	}
	all, m := float64(n+missing), float64(missing)
	return stats.Between((sum+m**low)/all, (sum+m**high)/all)
}

const (
	withoutThem  = "refused and cut answers left out"
	countedWorst = "refused and cut answers counted as worst"
)

// asWorst returns a share had the answers that the rule leaves out got the worst label; nil where the rubric has none.
func (s *rates) asWorst(what string, k, n, left int) *analysis.OtherRule {
	worst := s.Stage.WorstLabel()
	if worst == "" {
		return nil
	}
	if what == worst || what == analysis.WhatRate && slices.Contains(s.yes, worst) {
		k += left
	}
	return &analysis.OtherRule{Rule: countedWorst, Value: gather.Ratio(float64(k), n+left), N: n + left}
}

// other returns the value without refused and cut answers; nil where there are none.
func other(n, whole int, value stats.Number) *analysis.OtherRule {
	if n == whole {
		return nil
	}
	return &analysis.OtherRule{Rule: withoutThem, Value: value, N: whole}
}
