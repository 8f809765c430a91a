package grid_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/grid"
	"assay/internal/find/results/resultstest"
	"assay/internal/keep/store"
)

// TestTheGridIsWhatTheVerdictsSay writes verdicts at random, and computes cells, kinds and orders a second way: from
// the list of verdicts, not item by item. The items are so many that the grid lies in a file.
func TestTheGridIsWhatTheVerdictsSay(t *testing.T) {
	t.Parallel()
	b := resultstest.NewRig(t)
	dice := rand.New(rand.NewPCG(1, 2))
	var items []string
	for i := range 700 {
		items = append(items, fmt.Sprintf("%d-é%s", dice.IntN(1000)*1000+i, strings.Repeat("x", 1600)))
	}
	run := b.NewRun("r1", items)
	var all []store.Verdict
	for _, item := range items {
		for _, lane := range []string{"a", "b", "c"} {
			for _, judge := range []string{"j", "k"} {
				v := resultstest.VerdictOn(run, "right", item, lane, judge, []string{"right", "wrong"}[dice.IntN(2)])
				switch dice.IntN(8) {
				case 0:
					continue
				case 1:
					v.State, v.Label = assay.VerdictMalformed, ""
				}
				all = append(all, v)
			}
			for _, branch := range []string{"doubt", "expert", "control"} {
				v := resultstest.VerdictOn(run, "flips", item, lane, "j",
					[]string{"no_flip", "soft_flip", "explicit_flip"}[dice.IntN(12)%3])
				v.At.Turn, v.At.Branch = 2, branch
				all = append(all, v)
			}
		}
	}
	_, err := b.Ledger.Runs.AddVerdicts(t.Context(), all)
	b.OK(err)
	m, err := grid.Of(t.Context(), b.Reader, run, "")
	b.OK(err)
	if m.Stage != "right" || m.Source != "answers" || m.Rows != len(items) || !m.Judged || !m.Scored {
		t.Fatalf("grid: %+v", m)
	}
	want := secondWay(items, all)
	for _, tt := range []struct {
		name  string
		query grid.Query
		key   func(string) float64 // the order, before that of the input
	}{
		{"as asked", grid.Query{}, func(string) float64 { return 0 }},
		{"by lane b, the better end first", grid.Query{Sort: "b", Down: true},
			func(id string) float64 { return -orLast(want[id].cells["b"].mean(), -9) }},
		{"all wrong by lane c", grid.Query{Is: grid.AllWrong, Sort: "c"},
			func(id string) float64 { return orLast(want[id].cells["c"].mean(), 9) }},
		{"flipped and split", grid.Query{Is: grid.Flipped | grid.Split}, func(string) float64 { return 0 }},
		{"disagree", grid.Query{Is: grid.Disagree}, func(string) float64 { return 0 }},
	} {
		var ids []string
		for _, id := range items {
			if want[id].is()&tt.query.Is == tt.query.Is {
				ids = append(ids, id)
			}
		}
		slices.SortStableFunc(ids, func(x, y string) int { return cmp.Compare(tt.key(x), tt.key(y)) })
		got := walkGrid(b, m, tt.query, 64)
		if d := gocmp.Diff(ids, got); d != "" || len(ids) == 0 {
			t.Errorf("%s: %d rows, want %d", tt.name, len(got), len(ids))
		}
	}
	checkCells(t, m, want)
}

// Cells show so many places at which an answer may have been taken back, and no more; a row is found by the others too.
func TestAFlipAtAPlaceThatIsNotShownIsFound(t *testing.T) {
	t.Parallel()
	b := resultstest.NewRig(t)
	run := b.NewRun("r1", []string{"one", "two"})
	var all []store.Verdict
	for i := range 20 {
		for _, item := range []string{"one", "two"} {
			v := resultstest.VerdictOn(run, "flips", item, "a", "j", "no_flip")
			v.At.Turn, v.At.Branch = 2, fmt.Sprintf("b%02d", i)
			if item == "two" && i == 19 {
				v.Label = "explicit_flip"
			}
			all = append(all, v)
		}
	}
	_, err := b.Ledger.Runs.AddVerdicts(t.Context(), all)
	b.OK(err)
	m, err := grid.Of(t.Context(), b.Reader, run, "right")
	b.OK(err)
	if got := walkGrid(b, m, grid.Query{Is: grid.Flipped}, 64); !slices.Equal(got, []string{"two"}) || m.Counts[grid.Flipped] != 1 {
		t.Errorf("flipped: %v, %d counted", got, m.Counts[grid.Flipped])
	}
	page, err := m.Page(grid.Query{Limit: 2})
	b.OK(err)
	shown := m.Show(page.Rows, nil)
	if one, two := shown.Rows[0].Cells[0].Flips, shown.Rows[1].Cells[0].Flips; one != "" || two != "↯" {
		t.Errorf("cells show %q and %q", one, two)
	}
	if legend := strings.Join(shown.Legend, "\n"); m.Unshown != 4 || !strings.Contains(legend, `↯ taken back at one of 20 places or more`) {
		t.Errorf("%d places are not shown: %s", m.Unshown, legend)
	}
}

func orLast(x *float64, last float64) float64 {
	if x == nil {
		return last
	}
	return *x
}

// walkGrid reads page after page.
func walkGrid(b *resultstest.Rig, m *grid.Matrix, q grid.Query, limit int) []string {
	b.T.Helper()
	var out []string
	q.Limit = limit
	for {
		page, err := m.Page(q)
		b.OK(err)
		for _, row := range page.Rows {
			out = append(out, row.Item)
		}
		if q.After = page.Next; page.Next == "" {
			return out
		}
	}
}

// secondCell and secondItem are computed from the list of verdicts.
type secondCell struct {
	right, wrong float64
	judges       map[string]bool
	flips        map[string]bool
}

func (c *secondCell) mean() *float64 {
	if c.right+c.wrong == 0 {
		return nil
	}
	x := c.right / (c.right + c.wrong)
	return &x
}

type secondItem struct{ cells map[string]*secondCell }

func (i *secondItem) is() grid.Kind {
	var out grid.Kind
	var means []float64
	for _, c := range i.cells {
		if len(c.judges) == 2 {
			out |= grid.Split
		}
		if c.flips["doubt"] || c.flips["expert"] {
			out |= grid.Flipped
		}
		if x := c.mean(); x == nil {
			out |= grid.Unjudged
		} else {
			means = append(means, *x)
		}
	}
	if len(means) > 1 && slices.Max(means)-slices.Min(means) >= 0.5 {
		out |= grid.Disagree
	}
	if len(means) > 0 && slices.Max(means) < 0.5 {
		out |= grid.AllWrong
	}
	return out
}

func secondWay(items []string, all []store.Verdict) map[string]*secondItem {
	out := map[string]*secondItem{}
	for _, id := range items {
		out[id] = &secondItem{map[string]*secondCell{}}
		for _, lane := range []string{"a", "b", "c"} {
			out[id].cells[lane] = &secondCell{judges: map[string]bool{}, flips: map[string]bool{}}
		}
	}
	for _, v := range all {
		c := out[v.At.Item].cells[v.At.Lane]
		switch {
		case v.At.Stage == "flips":
			c.flips[v.At.Branch] = v.Label != "no_flip"
		case v.Label == "right":
			c.right++
			c.judges["right"] = true
		case v.Label == "wrong":
			c.wrong++
			c.judges["wrong"] = true
		}
	}
	return out
}

func checkCells(t *testing.T, m *grid.Matrix, want map[string]*secondItem) {
	t.Helper()
	if d := gocmp.Diff([]string{"doubt, turn 2", "expert, turn 2"}, m.Marks()); d != "" {
		t.Fatal(d)
	}
	counts, last := map[grid.Kind]int{}, ""
	for row, err := range m.All() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Item <= last {
			t.Fatalf("rows are not in the order of their ids: %.20q after %.20q", row.Item, last)
		}
		last = row.Item
		w := want[row.Item]
		if row.Is != w.is() {
			t.Fatalf("%.20q is %b, want %b", row.Item, row.Is, w.is())
		}
		for _, k := range grid.Kinds() {
			if w.is()&k.Kind != 0 {
				counts[k.Kind]++
			}
		}
		for i, lane := range m.Lanes {
			got, c := row.Cells[i], w.cells[lane]
			x := c.mean()
			if (got.Value == nil) != (x == nil) || x != nil && math.Abs(*got.Value-*x) > 0.003 || got.N != int(c.right+c.wrong) ||
				got.Split != (len(c.judges) == 2) {
				t.Fatalf("%.20q, lane %s: %+v, want %+v", row.Item, lane, got, c)
			}
			for k, branch := range []string{"doubt", "expert"} {
				if (got.Flips[k] == grid.TakenBack) != c.flips[branch] {
					t.Fatalf("%.20q, lane %s: flips %v, want %v", row.Item, lane, got.Flips, c.flips)
				}
			}
		}
	}
	if d := gocmp.Diff(counts, m.Counts); d != "" {
		t.Error(d)
	}
}

func TestOtherStagesMakeGridsToo(t *testing.T) {
	t.Parallel()
	b := resultstest.NewRig(t)
	run := b.NewRun("r1", []string{"q1", "q2"})
	four := 4.0
	likes := resultstest.VerdictOn(run, "likes", "q2", "b", "j", "")
	likes.Score = &four
	pair := func(item, first, second, label string) store.Verdict {
		v := resultstest.VerdictOn(run, "arena", item, first, "j", label)
		v.At.Against = second
		return v
	}
	_, err := b.Ledger.Runs.AddVerdicts(t.Context(), []store.Verdict{likes, pair("q1", "a", "b", "a"), pair("q1", "c", "a", "tie"),
		pair("q1", "c", "b", "a"), resultstest.VerdictOn(run, "right", "q1", "a", "human:anna", "right")})
	b.OK(err)
	for stage, want := range map[string][]string{
		"likes": {"– – –", "– 4 –"}, "arena": {"1.5/2 0/2 1.5/2", "– – –"}, "answers": {"– – –", "– – –"}, "right": {"– – –", "– – –"},
	} {
		m, err := grid.Of(t.Context(), b.Reader, run, stage)
		b.OK(err)
		page, err := m.Page(grid.Query{Limit: 10})
		b.OK(err)
		var got []string
		for _, row := range m.Show(page.Rows, nil).Rows {
			var signs []string
			for _, c := range row.Cells {
				signs = append(signs, c.Sign)
			}
			got = append(got, strings.Join(signs, " "))
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("stage %s: %s", stage, d)
		}
	}
	if _, err := grid.Of(t.Context(), b.Reader, run, "none"); err == nil {
		t.Error("a stage that is not there has a grid")
	}
}

func TestTwoRunsShowWhatBecameWorseFirst(t *testing.T) {
	t.Parallel()
	b := resultstest.NewRig(t)
	was, now := b.NewRun("r1", []string{"gone", "same", "worse", "worst", "better"}),
		b.NewRun("r2", []string{"better", "worst", "new", "worse", "same"})
	labels := func(run store.Run, item, three string) (all []store.Verdict) {
		for i, lane := range []string{"a", "b", "c"} {
			all = append(all, resultstest.VerdictOn(run, "right", item, lane, "j", map[byte]string{'1': "right", '0': "wrong"}[three[i]]))
		}
		return all
	}
	for _, all := range [][]store.Verdict{
		labels(was, "gone", "111"), labels(was, "same", "101"), labels(was, "worse", "110"), labels(was, "worst", "111"),
		labels(was, "better", "000"), labels(now, "new", "000"), labels(now, "same", "101"), labels(now, "worse", "011"),
		labels(now, "worst", "010"), labels(now, "better", "010"),
	} {
		_, err := b.Ledger.Runs.AddVerdicts(t.Context(), all)
		b.OK(err)
	}
	var both [2]*grid.Matrix
	for i, run := range []store.Run{was, now} {
		var err error
		both[i], err = grid.Of(t.Context(), b.Reader, run, "right")
		b.OK(err)
	}
	p, err := grid.PairOf(both[0], both[1])
	b.OK(err)
	if p.Shared != 4 || p.Worse != 2 || p.Better != 1 {
		t.Errorf("shared %d, worse %d, better %d", p.Shared, p.Worse, p.Better)
	}
	for only, want := range map[grid.PairChange][]string{
		"": {"worst", "worse", "better", "same"}, grid.PairWorse: {"worst", "worse"}, grid.PairBetter: {"worse", "better"},
		grid.PairChanged: {"worst", "worse", "better"},
	} {
		var got []string
		q := grid.PairQuery{Only: only, Limit: 1}
		for more := true; more; more = q.After != "" {
			rows, next, err := p.Page(q)
			b.OK(err)
			for _, row := range rows {
				got = append(got, row.Item)
			}
			q.After = next
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("only %q: %s", only, d)
		}
	}
}
