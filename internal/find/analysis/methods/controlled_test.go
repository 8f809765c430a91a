package methods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
)

// styledRows returns the comparisons of the reference, and what others found in them with ties of their own.
func styledRows(t *testing.T) (rows []analysis.Row, davidson struct {
	Controlled struct {
		Theta, SE map[string]float64
		Beta      map[string]float64 `json:"beta_per_sd"`
		BetaSE    map[string]float64 `json:"beta_se"`
		Twice     float64            `json:"log_odds_of_twice_as_long"`
	}
	Change struct{ Theta, SE map[string]float64 }
}) {
	t.Helper()
	var doc struct {
		Rows   [][]int
		Expect map[string]json.RawMessage
	}
	raw, err := os.ReadFile("../../stats/testdata/style.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc.Expect["davidson"], &davidson); err != nil {
		t.Fatal(err)
	}
	lanes := []string{"A", "B", "C", "D"}
	for _, r := range doc.Rows {
		row := met(lanes[r[0]], lanes[r[1]], fmt.Sprintf("i%03d", r[3]), []string{"a", "b", "tie"}[r[2]])
		row.Style = analysis.Style{Known: true, Length: int32(r[4]), Bold: int32(r[6]), Lists: int32(r[8])}
		row.OtherStyle = analysis.Style{Known: true, Length: int32(r[5]), Bold: int32(r[7]), Lists: int32(r[9])}
		rows = append(rows, row)
	}
	return rows, davidson
}

func control(t *testing.T, names ...string) analysis.Settings {
	t.Helper()
	c, err := analysis.ParseControls(names)
	if err != nil {
		t.Fatal(err)
	}
	return analysis.Settings{Control: c}
}

func TestStrengthsAreShownWithAndWithoutStyle(t *testing.T) {
	t.Parallel()
	rows, want := styledRows(t)
	spec := []analysis.Spec{{Method: analysis.BradleyT, Settings: control(t, "length", "bold", "lists")}}
	r := report(t, arena(), spec, rows)
	for _, lane := range []string{"A", "B", "C", "D"} {
		f := find(t, r, analysis.WhatControlled, "lane", lane)
		near(t, "controlled "+lane, want.Controlled.Theta[lane], f.Value.Value, 1e-5)
		near(t, "its error", want.Controlled.SE[lane], f.SE.Value, 1e-5)
		f = find(t, r, analysis.WhatMoved, "lane", lane)
		near(t, "change of "+lane, want.Change.Theta[lane], f.Value.Value, 1e-5)
		near(t, "its error", want.Change.SE[lane], f.SE.Value, 1e-5)
	}
	for name, as := range map[string]string{"length": "length", "bold": "bold", "lists": "list"} {
		f := find(t, r, analysis.WhatStyle, "style", name)
		near(t, name, want.Controlled.Beta[as], f.Value.Value, 1e-5)
		near(t, "its error", want.Controlled.BetaSE[as], f.SE.Value, 1e-5)
	}
	if f := find(t, r, analysis.WhatStyle, "style", "length"); !strings.Contains(strings.Join(f.Notes, " "),
		fmt.Sprintf("twice as long changes the log odds of winning by %+.2f", want.Controlled.Twice)) {
		t.Errorf("notes %q", f.Notes)
	}
	// Plain: A .107, C .102, B -.023, D -.186; controlled: A .418, C .020, B -.016, D -.422: nothing changes places.
	f := find(t, r, analysis.WhatSwapped)
	if diff := cmp.Diff([]analysis.Counted{{Name: "changed", N: 0}, {Name: "pairs", N: 6}}, f.Counts); diff != "" || f.Value.Value != 0 {
		t.Error(diff)
	}
	if len(r.Leaderboards) != 1 ||
		r.Leaderboards[0].Style != "without differences of length, lists, bold, 0 of 6 pairs change places; A moves most, by +0.31" {
		t.Errorf("%q", r.Leaderboards[0].Style)
	}
	// The order of rows does not matter, and a group has the numbers that it has alone.
	half := func(r *analysis.Row) bool { return r.Item < "i050" }
	var back, part []analysis.Row
	for i := range rows {
		back = append(back, rows[len(rows)-1-i])
		row := rows[i]
		if row.Template = "late"; half(&row) {
			row.Template = "early"
			part = append(part, rows[i])
		}
		rows[i] = row
	}
	if diff := cmp.Diff(r.Tables[0].Findings, report(t, arena(), spec, back).Tables[0].Findings); diff != "" {
		t.Error(diff)
	}
	alone := report(t, arena(), spec, part)
	spec[0].By = []string{analysis.ByTemplate}
	grouped := report(t, arena(), spec, rows)
	for _, lane := range []string{"A", "D"} {
		near(t, "a group", find(t, alone, analysis.WhatControlled, "lane", lane).Value.Value,
			find(t, grouped, analysis.WhatControlled, "lane", lane, "template", "early").Value.Value, 1e-9)
	}
}

func TestStyleThatIsNotThereIsSaidToBe(t *testing.T) {
	t.Parallel()
	rows, _ := styledRows(t)
	noted := func(r *analysis.Report, text string) {
		t.Helper()
		if !strings.Contains(strings.Join(r.Tables[0].Notes, "; "), text) {
			t.Errorf("no note %q in %q", text, r.Tables[0].Notes)
		}
	}
	spec := func(names ...string) []analysis.Spec {
		return []analysis.Spec{{Method: analysis.BradleyT, Settings: control(t, names...)}}
	}
	noted(report(t, arena(), spec("length", "code"), rows), "control without code: fewer than 20 comparisons differ in that")
	noted(report(t, arena(), spec("headings"), rows), "control without headings: fewer than 20 comparisons differ")
	for i := range 30 {
		rows[i].Style = analysis.Style{}
	}
	noted(report(t, arena(), spec("length"), rows), "30 verdicts on answers whose text is not known: not in the controlled strengths")

	// All of one cluster: nothing has an error, and no way to compute it is named.
	alike := slices.Clone(rows)
	for i := range alike {
		alike[i].Item = "same"
	}
	one := find(t, report(t, arena(), spec("length"), alike), analysis.WhatControlled, "lane", "A")
	if one.SE.OK || one.Method != "style control" {
		t.Errorf("method %q, error %+v", one.Method, one.SE)
	}

	// The longer one always wins: what style is worth has no end, and no strength has a number.
	var decided []analysis.Row
	for i := range 60 {
		r := met("A", "B", fmt.Sprint(i), "a")
		if r.Style, r.OtherStyle = (analysis.Style{Known: true, Length: 10}), (analysis.Style{Known: true, Length: 5}); i%2 == 0 {
			r.Label, r.Style.Length = "b", 3
		}
		if i%4 > 1 {
			r.Lane, r.Other = r.Other, r.Lane
		}
		decided = append(decided, r)
	}
	f := find(t, report(t, arena(), spec("length"), decided), analysis.WhatControlled)
	if f.Value.OK || f.Value.Why == "" || f.Interval.OK {
		t.Errorf("%+v", f.Value)
	}
	for names, want := range map[string]string{"lenght": "did you mean length", "colour": "there are length, markdown, lists",
		"markdown,bold": "name it, or them"} {
		if _, err := analysis.ParseControls(strings.Split(names, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", names, err)
		}
	}
	for name, s := range map[string]analysis.Spec{
		"elo":   {Stage: "arena", Method: analysis.Elo, Settings: control(t, "length")},
		"ridge": {Stage: "arena", Method: analysis.BradleyT, Settings: analysis.Settings{Control: analysis.ControlLength, Ridge: 1}},
	} {
		stage := arena()
		if err := s.Check(&stage); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestStyleIsCountedWithoutItsMarkup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]analysis.Style{
		"":                         {},
		"plain":                    {Length: 5},
		"Grüße\r\nund mehr\n":      {Length: 13},
		"# Title\n#hash ####### x": {Headings: 1, Length: 5 + 15},
		"a **b** c __d__":          {Bold: 2, Length: 7},
		"** ** and **":             {Length: 12},
		"- one\n* two\n 3. three\n4) four\n+five\n• six": {Lists: 5, Length: 3 + 3 + 5 + 4 + 5 + 3},
		"-5 degrees\n1.5 times":                          {Length: 19},
		"```go\n# not\n- a\n```\nout":                    {Code: 1, Length: 5 + 3 + 3},
		"~~~\nnever closed":                              {Code: 1, Length: 12},
	} {
		want.Known = true
		if diff := cmp.Diff(want, analysis.StyleOf(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
