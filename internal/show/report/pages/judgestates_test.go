package pages_test

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
	"assay/internal/show/report"
	"assay/internal/show/report/pages"
)

// stateOf is a report whose judge was checked as far as change says; two lanes that the judge parts are as good as each other for people.
func stateOf(t *testing.T, change func(*analysis.Checked)) *report.Document {
	t.Helper()
	d := judged(t, map[string]string{"a": strings.Repeat("+", 30), "b": strings.Repeat("-", 30)},
		func(s *analysis.Stage) { s.Validated = false })
	b := &d.Report.Leaderboards[0]
	value := func(judge float64) checked.Value {
		return checked.Value{Value: stats.Known(0.5), SE: stats.Known(0.05), Interval: stats.Between(0.4, 0.6), Judge: stats.Known(judge),
			Answers: 30, Labels: 20, Clusters: 20}
	}
	c := &analysis.Checked{Shares: true, Given: 40, Items: 20, Frame: 30, Fewest: 20, Clusters: 20, Labels: 40, Lanes: []string{"a", "b"},
		Agrees: stats.Known(0.85), AgreesInterval: stats.Between(0.7, 0.93), Error: stats.Known(0.15),
		ErrorInterval: stats.Between(0.07, 0.3), Corrected: &checked.Corrected{Use: checked.JudgeHelps, Clusters: 30, Labelled: 20,
			Values: []checked.Value{value(1), value(0)}, Differences: []checked.Difference{{A: 0, B: 1, Value: stats.Known(0),
				SE: stats.Known(0.07), Interval: stats.Between(-0.15, 0.15), Clusters: 20, P: stats.Known(1)}}}}
	if change(c); c.State == checked.Unchecked || c.State == checked.BeingChecked || c.State == checked.Untellable {
		c.Corrected = nil
	}
	b.Correct(c)
	return d
}

// TestPagesShowEachStateOfAJudge: its words beside the headline, as a fact, a doubt or an alarm, and corrected values with the judge's
// beside them from where it was checked on.
func TestPagesShowEachStateOfAJudge(t *testing.T) {
	t.Parallel()
	is := func(s checked.State) func(*analysis.Checked) { return func(c *analysis.Checked) { c.State = s } }
	for name, c := range map[string]struct {
		change    func(*analysis.Checked)
		fact      string // as it stands beside the headline
		caveat    string
		corrected bool
	}{
		"unchecked": {is(checked.Unchecked), `<span class="pill doubt">judge unchecked</span>`, "Judge unchecked.", false},
		"chosen": {func(c *analysis.Checked) { c.State, c.Chosen = checked.Unchecked, true },
			`<span class="pill doubt">judge unchecked: 40 labels not drawn, agrees in 85% (70 to 93%)</span>`,
			"40 labels were chosen, not drawn, and correct nothing; it agrees in 85.0%", false},
		"no sample": {func(c *analysis.Checked) {
			c.Refuse(checked.Apart{Labelled: 0.8, All: 0.5, P: stats.Known(0.001)})
		}, `<span class="pill doubt">judge unchecked</span>`, "mean is 80.0% on the labelled and 50.0% on all (p = 0.001)", false},
		"being checked": {func(c *analysis.Checked) {
			c.State, c.Given, c.Items, c.Clusters, c.Next = checked.BeingChecked, 6, 3, 3, 20
		},
			`<span class="pill doubt">judge being checked: 6 of 40 labels, agrees in 85% (70 to 93%)</span>`, "Label more:", false},
		"cannot be told": {is(checked.Untellable), `<span class="pill doubt">judge cannot be checked</span>`, "Judge cannot be checked.",
			false},
		"no better than chance": {is(checked.NoBetter), `<span class="pill warn">judge no better than chance</span>`,
			"Judge no better than chance.", true},
		"favours lanes": {is(checked.FavoursLanes), `<span class="pill warn">judge favours lanes</span>`, "Judge favours lanes.", true},
		"checked":       {is(checked.Checked), `judge checked: wrong in 15%`, "Judge checked.", true},
		"prompt changed": {func(c *analysis.Checked) { c.State, c.Earlier = checked.Checked, 12 }, `judge checked: wrong in 15%`,
			"its prompt was changed after 12 labels, which do not count", true},
		"labels incomplete": {func(c *analysis.Checked) { c.State, c.LeftOut = checked.Checked, 5 },
			`<span class="pill doubt">judge checked: wrong in 15%, labels incomplete</span>`,
			"labels incomplete: 5 of 25 items left out", true},
		"several": {func(c *analysis.Checked) {
			one := *c
			one.State = checked.FavoursLanes
			c.State, c.Each = checked.Checked, []analysis.JudgeChecked{{Judge: "x", Checked: &one}, {Judge: "y", Checked: &one}}
		}, `mean of 2 judges checked: wrong in 15%`, "x alone: favours lanes, off by 15.0%", true},
	} {
		d := stateOf(t, c.change)
		var page, md bytes.Buffer
		if err := pages.HTML(&page, d); err != nil {
			t.Fatal(err)
		}
		if err := pages.Markdown(&md, d); err != nil {
			t.Fatal(err)
		}
		for of, text := range map[string]string{"page": strings.ReplaceAll(page.String(), "&#39;", "'"), "markdown": md.String()} {
			if of == "page" && !strings.Contains(text, c.fact) || !strings.Contains(text, c.caveat) {
				t.Errorf("%s, %s: want %q and %q", name, of, c.fact, c.caveat)
			}
			if got := strings.Contains(text, "judge alone"); got != c.corrected {
				t.Errorf("%s, %s: the judge's value stands beside the corrected one: %v", name, of, got)
			}
			if ahead := strings.Contains(text, "is ahead"); ahead == c.corrected {
				t.Errorf("%s, %s: a is ahead: %v", name, of, ahead)
			}
		}
		if chance := strings.Contains(page.String(), "The judge is no better than chance."); chance != (name == "no better than chance") {
			t.Errorf("%s: the headline tells of chance: %v", name, chance)
		}
	}
}

// TestNoMoreLabelsAreAskedForWherePairsAreBoughtInRounds: further ones would be chosen, too, and the advice would lead to itself.
func TestNoMoreLabelsAreAskedForWherePairsAreBoughtInRounds(t *testing.T) {
	t.Parallel()
	for _, inRounds := range []bool{false, true} {
		d := stateOf(t, func(c *analysis.Checked) { c.State, c.Chosen = checked.Unchecked, true })
		if inRounds {
			d.Report.Leaderboards[0].Rounds = &analysis.Rounds{Looks: 3, Planned: 4, Stopped: "the goal is settled"}
		}
		var md bytes.Buffer
		if err := pages.Markdown(&md, d); err != nil {
			t.Fatal(err)
		}
		asks, says := strings.Contains(md.String(), "assay label"), strings.Contains(md.String(), "no sample of them can be drawn")
		if asks == inRounds || says != inRounds {
			t.Errorf("in rounds %v: it asks for labels: %v, it says why not: %v\n%s", inRounds, asks, says, md.String())
		}
	}
}
