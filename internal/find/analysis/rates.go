package analysis

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/find/stats"
)

// What the findings of single answers are called; the share of a label is called as the label.
const (
	WhatRate = "rate" // share of the labels that score, of flips, or of the expected label
	WhatMean = "mean" // mean score
)

// maxLabels is how many labels a table lists; a rubric whose labels are free text has no shares worth a line each.
const maxLabels = 50

// rates gathers label shares and mean scores.
type rates struct {
	stage    *Stage
	spec     Spec
	options  Options
	yes      []string
	clusters *names
	labels   names
	groups   groups[*rateSums]
	pairing  *pairing // nil: lanes are not distinguished
}

// rateSums are the sums of one group, cluster by cluster.
type rateSums struct {
	clusters       places
	n, yes         counts // rows with a label
	known, matches counts // rows with an expected label; of them, those that have it
	scored         counts
	score          []float64
	labels         []counts // by label
	order          []int    // places in the order of the clusters' names, when all rows are there

	wholeN, wholeYes, wholeExpected, wholeMayMatch, wholeScored int // the same without refused and cut answers
	wholeScore                                                  float64
	wholeLabels                                                 []int
}

func newRates(stage *Stage, s Spec, o Options, known *names) *rates {
	r := &rates{stage: stage, spec: s, options: o, yes: stage.yes(), clusters: known}
	for _, l := range stage.Labels {
		r.labels.of(l.Name)
	}
	r.groups = newGroups(s.By, func() *rateSums { return &rateSums{} })
	if slices.Contains(s.By, ByLane) {
		r.pairing = newPairing(s.By, known)
	}
	return r
}

func (s *rates) keeps(r *Row) bool {
	return !s.stage.Flips || !s.stage.controls(r.Branch) || slices.Contains(s.spec.By, ByBranch)
}

func (s *rates) expect(r *Row) {
	if s.keeps(r) {
		s.groups.expect(r)
	}
}

func (s *rates) add(r *Row) {
	if !s.keeps(r) {
		return
	}
	g := s.groups.of(r)
	g.cover.count(r)
	if !r.valid() {
		return
	}
	label := -1
	if _, seen := s.labels.index[r.Label]; r.Label != "" && (seen || len(s.labels.list) < maxLabels) {
		label = int(s.labels.of(r.Label))
	}
	yes := slices.Contains(s.yes, r.Label)
	g.data.add(r, s.clusters.of(r.cluster()), label, yes)
	if s.pairing != nil {
		s.pairing.add(r, yes, len(s.yes) > 0 && r.Label != "")
	}
}

func (s *rateSums) add(r *Row, cluster uint32, label int, yes bool) {
	k := s.clusters.of(cluster)
	labelled := r.Label != ""
	matches := labelled && r.Label == r.Expect
	s.n.addIf(labelled, k)
	s.yes.addIf(yes, k)
	s.known.addIf(labelled && r.Expect != "", k)
	s.matches.addIf(matches, k)
	if r.Score != nil {
		s.scored.add(k)
		s.score = grown(s.score, k)
		s.score[k] += *r.Score
	}
	if label >= 0 {
		s.labels = grown(s.labels, label)
		s.labels[label].add(k)
	}
	if r.whole() {
		s.addWhole(r, label, yes, matches)
	}
}

func (s *rateSums) addWhole(r *Row, label int, yes, matches bool) {
	s.wholeN += int(one(r.Label != ""))
	s.wholeYes += int(one(yes))
	s.wholeExpected += int(one(matches))
	s.wholeMayMatch += int(one(r.Label != "" && r.Expect != ""))
	if r.Score != nil {
		s.wholeScored++
		s.wholeScore += *r.Score
	}
	if label >= 0 {
		s.wholeLabels = grown(s.wholeLabels, label)
		s.wholeLabels[label]++
	}
}

// sort puts the clusters in the order of their names, so that resampling does not depend on the order of rows.
func (s *rateSums) sort(clusters *names) {
	ids, rank := s.clusters.ids, clusters.byText()
	s.order = make([]int, len(ids))
	for k := range s.order {
		s.order[k] = k
	}
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Compare(rank[ids[a]], rank[ids[b]]) })
}

// shares are the counts of each cluster in their order.
func (s *rateSums) shares(k, n *counts) []stats.Count {
	out := make([]stats.Count, len(s.order))
	for i, c := range s.order {
		out[i] = stats.Count{K: k.at(c), N: n.at(c)}
	}
	return out
}

func permuted[T any](s []T, places []int) []T {
	out := make([]T, len(places))
	for k, p := range places {
		out[k] = s[p]
	}
	return out
}

func one(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

func (s *rates) tables() ([]Table, error) {
	t := Table{Title: "rates", Coverage: s.groups.totals()}
	shown := s.shownLabels()
	for _, g := range s.groups.sorted() {
		found, err := s.findings(g, shown)
		if err != nil {
			return nil, err
		}
		t.Findings = append(t.Findings, found...)
		g.data = nil // what was kept of it has been reported
	}
	if len(s.yes) > 0 {
		t.note("rate: share of %s", strings.Join(s.yes, " or "))
	}
	if len(s.labels.list) >= maxLabels {
		t.note("more than %d labels: their shares are not listed", maxLabels)
	}
	if s.pairing == nil {
		return []Table{t}, nil
	}
	if err := s.pairing.standing(&t, s); err != nil {
		return nil, err
	}
	out := []Table{t}
	differences, err := s.pairing.table(s)
	if differences != nil {
		out = append(out, *differences)
	}
	return out, err
}

// shownLabels are the labels whose shares are listed: those of the rubric in its order, then others by name.
func (s *rates) shownLabels() []int {
	if len(s.labels.list) >= maxLabels {
		return nil
	}
	var out, others []int
	for i := range s.labels.list {
		if i < len(s.stage.Labels) {
			out = append(out, i)
		} else {
			others = append(others, i)
		}
	}
	slices.SortFunc(others, func(a, b int) int { return Natural(s.labels.list[a], s.labels.list[b]) })
	return append(out, others...)
}

func (s *rates) findings(g *group[*rateSums], labels []int) ([]Finding, error) {
	var out []Finding
	d := g.data
	d.sort(s.clusters)
	put := func(what string, counts []stats.Count, wholeK, wholeN int) error {
		e, err := s.options.share(counts)
		if err != nil {
			return err
		}
		f := Finding{What: what, Unit: Share}
		k := 0
		for _, c := range counts {
			k += c.K
		}
		e.put(&f)
		f.Bounds = stats.MissingBounds(k, f.N-k, g.cover.settle().unknown())
		f.Other = other(f.N, wholeN, ratio(float64(wholeK), wholeN))
		if left := g.cover.Excluded; left > 0 {
			f.Other = s.asWorst(what, k, f.N, left)
		}
		out = append(out, f)
		return nil
	}
	if d.scoresAlone() {
		labels = nil
	} else if err := s.headline(d, put); err != nil {
		return nil, err
	}
	for _, l := range labels {
		var given counts
		if l < len(d.labels) {
			given = d.labels[l]
		}
		whole := 0
		if l < len(d.wholeLabels) {
			whole = d.wholeLabels[l]
		}
		if err := put(s.labels.list[l], d.shares(&given, &d.n), whole, d.wholeN); err != nil {
			return nil, err
		}
	}
	mean, err := s.mean(g)
	if mean != nil && (!s.binary() || d.scoresAlone()) {
		out = append(out, *mean)
	}
	for i := range out {
		out[i].By, out[i].Coverage, out[i].Rule = g.by(s.spec.By), g.cover.settle(), rule(s.stage)
	}
	return out, err
}

// headline is the rate of the stage: of the labels that score, else of the expected one; none where neither is known.
func (s *rates) headline(d *rateSums, put func(string, []stats.Count, int, int) error) error {
	if len(s.yes) > 0 {
		return put(WhatRate, d.shares(&d.yes, &d.n), d.wholeYes, d.wholeN)
	}
	if len(d.known.low) == 0 {
		return nil
	}
	return put(WhatRate, d.shares(&d.matches, &d.known), d.wholeExpected, d.wholeMayMatch)
}

// mean is the mean score; nil where no verdict has one.
func (s *rates) mean(g *group[*rateSums]) (*Finding, error) {
	d := g.data
	totals, n, sum := make([]total, 0, len(d.order)), 0, 0.0
	for _, k := range d.order {
		if scored := d.scored.at(k); scored > 0 {
			totals = append(totals, total{scored, d.score[k]})
			n, sum = n+scored, sum+d.score[k]
		}
	}
	if n == 0 {
		return nil, nil
	}
	e := s.options.mean(totals)
	e.interval = clipped(e.interval, s.stage.Low, s.stage.High)
	f := &Finding{What: WhatMean, Unit: Score, Bounds: s.scoreBounds(n, sum, g.cover.settle().unknown())}
	e.put(f)
	f.Other = other(n, d.wholeScored, ratio(d.wholeScore, d.wholeScored))
	if left := g.cover.Excluded; left > 0 && s.stage.Worst != nil {
		f.Other = &OtherRule{Rule: countedWorst, Value: stats.Known((sum + float64(left)**s.stage.Worst) / float64(n+left)), N: n + left}
	}
	return f, nil
}

// scoresAlone reports whether no verdict has a label: the rubric gives none, or the mean of several verdicts has lost it.
func (s *rateSums) scoresAlone() bool { return len(s.n.low) == 0 && len(s.scored.low) > 0 }

// binary reports whether the mean score is the rate over again.
func (s *rates) binary() bool {
	return len(s.yes) > 0 && !slices.ContainsFunc(s.stage.Labels, func(l Label) bool { return *l.Score != 0 && *l.Score != 1 })
}

// clipped is an interval inside the range that the value has, as far as it is known.
func clipped(i stats.Interval, low, high *float64) stats.Interval {
	if i.OK && low != nil {
		i.Low, i.High = max(i.Low, *low), max(i.High, *low)
	}
	if i.OK && high != nil {
		i.Low, i.High = min(i.Low, *high), min(i.High, *high)
	}
	return i
}

// scoreBounds is where the mean must lie if the missing scores were known.
func (s *rates) scoreBounds(n int, sum float64, missing int) stats.Interval {
	low, high := s.stage.Low, s.stage.High
	if low == nil || high == nil {
		if missing > 0 {
			return stats.NoInterval("the score has no bounds")
		}
		return stats.Between(sum/float64(n), sum/float64(n))
	}
	all, m := float64(n+missing), float64(missing)
	return stats.Between((sum+m**low)/all, (sum+m**high)/all)
}

const (
	withoutThem  = "refused and cut answers left out"
	countedWorst = "refused and cut answers counted as worst"
)

// asWorst is a share had the answers that the rule leaves out got the worst label; nil where the rubric has none.
func (s *rates) asWorst(what string, k, n, left int) *OtherRule {
	worst := s.stage.worst()
	if worst == "" {
		return nil
	}
	if what == worst || what == WhatRate && slices.Contains(s.yes, worst) {
		k += left
	}
	return &OtherRule{Rule: countedWorst, Value: ratio(float64(k), n+left), N: n + left}
}

// other is the value without refused and cut answers; nil where there are none.
func other(n, whole int, value stats.Number) *OtherRule {
	if n == whole {
		return nil
	}
	return &OtherRule{Rule: withoutThem, Value: value, N: whole}
}

func ratio(sum float64, n int) stats.Number {
	if n == 0 {
		return stats.Undefined("no verdicts")
	}
	return stats.Known(sum / float64(n))
}

func rule(s *Stage) string {
	if s.Rule == "" {
		return "refused and cut answers count as answers"
	}
	return s.Rule
}
