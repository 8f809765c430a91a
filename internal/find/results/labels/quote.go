package labels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
)

// Quote tells which precision the labels until the next planned correction give.
type Quote struct {
	Labels  int     `json:"labels"`  // more of them
	Items   int     `json:"items"`   // that are labelled then
	Within  float64 `json:"within"`  // half the width of an interval: of a rate or a share of wins, else of a mean score
	Assumed bool    `json:"assumed"` // few items are labelled: the judge is taken to be wrong on 15 of 100
	score   bool
}

// pilotItems is from how many labelled items on a quote rests on them.
const pilotItems = 20

// quote foretells the next planned correction; nil where nothing is drawn, or the plan is done. It rests on how far labels scatter round
// verdicts, never on what they show, so that looking at it after every label spends nothing.
func (p *Panel) quote(d *analysis.Draw, decided []store.Verdict, judged map[assay.Key][]store.Verdict) *Quote {
	if d == nil || len(d.Items) == 0 {
		return nil
	}
	done, begun, s := p.labelled(d, decided, judged)
	looks := d.Looks(0.05, 0)
	i := slices.IndexFunc(looks, func(l checked.Look) bool { return l.Items > done && l.Items >= checked.FewestClusters })
	if i < 0 || looks[i].Items > len(d.Items) {
		return nil
	}
	each := checked.LabelsOfItem(len(d.Lanes), p.Pairs())
	out := &Quote{Labels: max(1, (looks[i].Items-done)*each-begun) * max(1, d.Raters), Items: looks[i].Items, score: !d.YesNo && !p.Pairs()}
	w := checked.BeforeLabels(0, len(d.Items))
	w.Level = 1 - looks[i].Alpha
	switch out.Assumed = done < pilotItems; {
	case out.Assumed && out.score:
		return nil
	case !out.Assumed:
		scale := checked.YesNo()
		scale.YesNo = !out.score
		w.Residual, w.Label = s.Pilot(scale)
	}
	out.Within = w.HalfWidth(looks[i].Items)
	return out
}

// Wanted returns what is asked of labels: to know values within so much, or with apart, to tell lanes apart that differ by so much. From
// 20 labelled items on it rests on these; before, on what judges usually are, and of scores it is not known.
func (p *Panel) Wanted(ctx context.Context, d *analysis.Draw, size float64, apart bool) (w checked.Wanted, measured, ok bool, err error) {
	w = checked.BeforeLabels(size, len(d.Items))
	if apart {
		w = checked.ApartBefore(size, len(d.Lanes), len(d.Items))
	}
	var decided []store.Verdict
	var keys []assay.Key
	for v, err := range p.People.Reader.PeopleVerdicts(ctx, p.People.Run.No, p.People.Name) {
		if err != nil {
			return w, false, false, err
		}
		if !v.Stale && v.State == assay.VerdictValid && !people.Picked(&v) && !people.Earlier(&v) {
			decided, keys = append(decided, v), append(keys, v.Subject)
		}
	}
	judged, err := p.People.Reader.VerdictsOn(ctx, p.People.Run.No, keys)
	if err != nil {
		return w, false, false, err
	}
	done, _, s := p.labelled(d, decided, judged)
	scale := checked.YesNo()
	scale.YesNo = d.YesNo || p.Pairs()
	switch {
	case done < pilotItems:
		return w, false, scale.YesNo, nil
	case apart:
		if residual, label, ok := s.PilotApart(scale); ok {
			w.Residual, w.Label = residual, label
		}
	default:
		w.Residual, w.Label = s.Pilot(scale)
	}
	return w, true, true, nil
}

// labelled returns how many items have all of their labels, how many labels others have, and what people and judges say of the former.
func (p *Panel) labelled(d *analysis.Draw, decided []store.Verdict,
	judged map[assay.Key][]store.Verdict) (items, begun int, s *checked.Sample) {
	type said struct{ sum, n float64 }
	byItem := map[string]map[store.Task]said{}
	lane := map[store.Task]int{}
	verdict := map[store.Task]said{}
	for i := range decided {
		v := &decided[i]
		value, ok := p.People.Number(v)
		if chosen, _ := people.ChosenAs(v); !ok || chosen != analysis.ChosenDrawn && chosen != analysis.ChosenAdjudicated {
			continue
		}
		if byItem[v.At.Item] == nil {
			byItem[v.At.Item] = map[store.Task]said{}
		}
		x := byItem[v.At.Item][v.Task()]
		byItem[v.At.Item][v.Task()] = said{x.sum + value, x.n + 1}
		name := v.At.Lane
		if p.Pairs() {
			name = min(v.At.Lane, v.At.Against)
		}
		lane[v.Task()] = max(0, slices.Index(d.Lanes, name))
		if _, there := verdict[v.Task()]; there {
			continue
		}
		var f said
		for k := range judged[v.Subject] {
			o := &judged[v.Subject][k]
			if x, ok := p.People.Number(o); ok && o.At.Stage == v.At.Stage && o.State == assay.VerdictValid && o.Task() == v.Task() &&
				!strings.HasPrefix(o.At.Judge, people.Prefix) {
				f = said{f.sum + x, f.n + 1}
			}
		}
		verdict[v.Task()] = f
	}
	var all []checked.Label
	for _, item := range slices.Sorted(maps.Keys(byItem)) {
		tasks := byItem[item]
		if len(tasks) < checked.LabelsOfItem(len(d.Lanes), p.Pairs()) {
			begun += len(tasks)
			continue
		}
		for task, y := range tasks {
			if f := verdict[task]; f.n > 0 {
				all = append(all, checked.Label{Item: items, Cluster: items, Lane: lane[task], Verdict: f.sum / f.n, Value: y.sum / y.n,
					Weight: 1})
			}
		}
		items++
	}
	return items, begun, checked.NewSample(len(d.Lanes)).With(all)
}

// words returns the quote as the end of a sentence.
func (q *Quote) words(pairs bool) string {
	what := "rates known within %.0f points"
	within := 100 * q.Within
	switch {
	case pairs:
		what = "shares of wins known within %.0f points"
	case q.score:
		what, within = "means known within %.2g", q.Within
	}
	text := fmt.Sprintf("%s %s "+what, assay.Count(q.Labels, "more label"), assay.Verb(q.Labels, "makes", "make"), within)
	if q.Assumed {
		text += ", if the judge is wrong on 15 of 100"
	}
	return text
}
