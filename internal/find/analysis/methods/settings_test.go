package methods_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

func TestSettingsOfMethods(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for k := range 8 { // 6 to 2
		rows = append(rows, met("x", "y", fmt.Sprint("c", k), map[bool]string{true: "a", false: "b"}[k < 6]))
	}
	of := func(m analysis.Method, what string, s analysis.Settings) analysis.Finding {
		return found(t, report(t, arena(), []analysis.Spec{{Method: m, Settings: s}}, rows), what, "x")
	}
	plain := of(analysis.BradleyT, analysis.WhatStrength, analysis.Settings{})
	closeTo(t, "strength", plain.Value, math.Log(3)/2)
	firth := of(analysis.BradleyT, analysis.WhatStrength, analysis.Settings{Firth: true})
	closeTo(t, "with Firth's penalty", firth.Value, math.Log(6.5/2.5)/2)
	ridged := of(analysis.BradleyT, analysis.WhatStrength, analysis.Settings{Ridge: 0.5})
	x := ridged.Value.Value // where the slope of the likelihood is that of the penalty
	closeTo(t, "slope under a ridge", stats.Known(6-8/(1+math.Exp(-2*x))), 0.5*x)
	if !strings.Contains(ridged.Method, "ridge 0.5") || !strings.Contains(firth.Method, "Firth") {
		t.Errorf("methods: %s; %s", ridged.Method, firth.Method)
	}
	narrow := of(analysis.BradleyT, analysis.WhatStrength, analysis.Settings{Level: 0.8})
	if narrow.Level != 0.8 || !(narrow.Interval.High < plain.Interval.High) || plain.SE != narrow.SE {
		t.Errorf("80%%: %+v, 95%%: %+v", narrow.Interval, plain.Interval)
	}
	other := of(analysis.BradleyT, analysis.WhatStrength, analysis.Settings{Seed: 9, Bootstrap: 300})
	if other.SE == plain.SE || !other.SE.OK {
		t.Errorf("another seed and more resamples give the same error %v", other.SE)
	}

	a, b := of(analysis.Elo, analysis.WhatElo, analysis.Settings{}),
		of(analysis.Elo, analysis.WhatElo, analysis.Settings{Start: stats.Known(0)})
	closeTo(t, "a start of 0", b.Value, a.Value.Value-1500)
	rows = rows[:1]
	closeTo(t, "K 100 from 0", of(analysis.Elo, analysis.WhatElo, analysis.Settings{K: 100, Start: stats.Known(0), Orders: 1}).Value, 50)
}

func TestWrongSettingsAreErrorsWithAHint(t *testing.T) {
	t.Parallel()
	lanes, items := arena(), arena()
	items.Items = true
	for _, c := range []struct {
		stage analysis.Stage
		spec  analysis.Spec
		want  string
	}{
		{lanes, analysis.Spec{Method: analysis.Elo, Settings: analysis.Settings{Ridge: 1}},
			"ridge does not belong to method elo (it is of bradley-terry, davidson, ranking, correlation)"},
		{lanes, analysis.Spec{Method: analysis.Davidson, Settings: analysis.Settings{Firth: true}},
			"firth does not belong to method davidson"},
		{lanes, analysis.Spec{Settings: analysis.Settings{Ridge: 1, Firth: true}}, "want one of them"},
		{lanes, analysis.Spec{Settings: analysis.Settings{Level: 95}}, "level 95: want a share between 0.5 and 1"},
		{lanes, analysis.Spec{Settings: analysis.Settings{Bootstrap: 3}}, "bootstrap 3: want 50"},
		{lanes, analysis.Spec{Method: analysis.Correlation, Settings: analysis.Settings{With: "x"}}, "needs items that are compared"},
		{items, analysis.Spec{Method: analysis.Correlation}, "with: FIELD"},
		{items, analysis.Spec{By: []string{"provider"}}, "items are compared there"},
		{lanes, analysis.Spec{By: []string{"provider", "lane.effort"}}, "one of them at a time"},
		{correct(), analysis.Spec{Method: analysis.Stances}, "rubric: stance or stance_keywords"},
		{correct(), analysis.Spec{Method: analysis.Rates, Settings: analysis.Settings{K: 16}},
			"k does not belong to method rate (it is of elo)"},
	} {
		if err := c.spec.Check(&c.stage); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}
