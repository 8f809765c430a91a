package pages_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
)

// quoted finds a summary's quote for resolving the difference of two lanes.
var quoted = regexp.MustCompile(`(\w+) and (\w+): ([\d,]+) to ([\d,]+) more questions \(\$([\d.,]+)\) would very likely tell them apart`)

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAQuoteIsWhatItPromises draws, by other code than the program's, what so many more questions would show.
func TestAQuoteIsWhatItPromises(t *testing.T) {
	t.Parallel()
	marks := map[string]string{ // 42, 35 and 6 of 60 are right
		"aa": strings.Repeat("+", 30) + strings.Repeat("-", 12) + strings.Repeat("+", 12) + strings.Repeat("-", 6),
		"bb": strings.Repeat("+", 35) + strings.Repeat("-", 25),
		"cc": strings.Repeat("+", 6) + strings.Repeat("-", 54),
	}
	d := judged(t, marks, nil)
	d.Spend = append(d.Spend, report.Spend{Stage: "correct", Lane: "judge", Answers: 180,
		Cost: assay.Cost{Sum: assay.Dollars(1.8), Priced: 180}})
	// Another stage judges the same answers, and a third compares them in a sample, which does not grow with the questions.
	for _, stage := range []string{"kind", "arena"} {
		d.Spend = append(d.Spend, report.Spend{Stage: stage, Lane: "judge", Answers: 180,
			Cost: assay.Cost{Sum: assay.Dollars(3.6), Priced: 180}})
	}
	d.Reads = map[string][]string{"correct": {"answers"}, "kind": {"answers"}, "arena": {"answers"}}
	d.Comparing = map[string]report.Comparing{"arena": {}}
	var text string
	for _, c := range words.Summarise(d).Caveats {
		if c.Title == "Not settled." {
			text = c.Text + strings.Join(c.Points, "; ")
		}
	}
	got := quoted.FindStringSubmatch(text)
	if got == nil || got[1]+got[2] != "aabb" && got[1]+got[2] != "bbaa" || strings.Contains(text, "cc") {
		t.Fatalf("no quote in %q", text)
	}
	// Three lanes at 2/60 dollars an item each (2 dollars for each lane's answers), three verdicts at a cent and three at two: whoever
	// adds questions asks all lanes.
	found, likely := number(t, got[3]), number(t, got[4])
	if each := number(t, got[5]) / likely; math.Abs(each/(6./60+0.03+0.06)-1) > 0.03 {
		t.Errorf("one more question costs $%.4f: %s", each, text)
	}
	mean, variance := differences(marks["aa"], marks["bb"])
	for n, spread := range map[float64]float64{found: 1e9, likely: spreadOf(marks)} { // the other two pairs can be told apart
		if share := settles(marks["aa"], marks["bb"], 2*spread/(2*spread+variance), mean, variance, int(n)); math.Abs(share-0.8) > 0.04 {
			t.Errorf("%.0f more settle it in %.3f of draws, want 0.80", n, share)
		}
	}
}

// differences returns the mean and the variance of the mean of item by item differences.
func differences(a, b string) (mean, variance float64) {
	n, sum, squares := float64(len(a)), 0.0, 0.0
	for i := range a {
		d := 0.0
		if a[i] == '+' {
			d++
		}
		if b[i] == '+' {
			d--
		}
		sum += d
		squares += d * d
	}
	mean = sum / n
	return mean, (squares/n - mean*mean) / (n - 1)
}

// spreadOf returns the variance of the lanes' rates, less that of their errors.
func spreadOf(marks map[string]string) float64 {
	var rates, errors []float64
	all := 0.0
	for _, m := range marks {
		p := float64(strings.Count(m, "+")) / float64(len(m))
		rates, errors, all = append(rates, p), append(errors, p*(1-p)/float64(len(m)-1)), all+p
	}
	out := 0.0
	for i, p := range rates {
		out += (p-all/3)*(p-all/3) - errors[i]
	}
	return out / 2
}

// settles returns how often n more items make McNemar's exact test significant: the truth is drawn from what is believed, then
// what they show.
func settles(a, b string, believed, mean, variance float64, n int) float64 {
	rng := rand.New(rand.NewPCG(5, 5))
	ahead, behind := 0, 0
	for i := range a {
		switch {
		case a[i] > b[i]: // - comes after +
			behind++
		case a[i] < b[i]:
			ahead++
		}
	}
	rate := float64(ahead+behind) / float64(len(a))
	hits, draws := 0, 4000
	for range draws {
		truth := believed*mean + math.Sqrt(believed*variance)*rng.NormFloat64()
		first, second := ahead, behind
		for range n {
			if u := rng.Float64(); u < (rate+truth)/2 {
				first++
			} else if u < rate {
				second++
			}
		}
		if stats.NewMcNemar(first, second).Exact.Value < 0.0025 { // the error of a second look
			hits++
		}
	}
	return float64(hits) / float64(draws)
}

// TestAQuoteHasThePriceOfBothWays: what answers took, at the prices of batches and of live requests, where both are
// known.
func TestAQuoteHasThePriceOfBothWays(t *testing.T) {
	t.Parallel()
	marks := map[string]string{"aa": strings.Repeat("+", 30) + strings.Repeat("-", 12) + strings.Repeat("+", 12) + strings.Repeat("-", 6),
		"bb": strings.Repeat("+", 35) + strings.Repeat("-", 25), "cc": strings.Repeat("+", 6) + strings.Repeat("-", 54)}
	d := judged(t, marks, nil)
	d.Spend = append(d.Spend, report.Spend{Stage: "correct", Lane: "judge", Answers: 180,
		Cost: assay.Cost{Sum: assay.Dollars(1.8), Priced: 180}})
	for i := range d.Spend {
		d.Spend[i].Batch, d.Spend[i].Live = assay.Cost{Sum: assay.Dollars(0.02), Priced: 1}, assay.Cost{Sum: assay.Dollars(0.05), Priced: 1}
	}
	s := words.Summarise(d)
	if len(s.Settling) != 1 || s.Settling[0].Unit != "question" {
		t.Fatalf("%+v", s.Settling)
	}
	// There are 1,000 answers of each lane and a verdict on each of 60 items.
	requests := 3*1000./60 + 3
	if a := s.Settling[0].Likely; math.Abs(a.Cost.Batch.Value-requests*0.02*a.N) > 1e-6 ||
		math.Abs(a.Cost.Live.Value-requests*0.05*a.N) > 1e-6 {
		t.Errorf("%+v", a)
	}
	var text string
	for _, c := range s.Caveats {
		if c.Title == "Not settled." {
			text = c.Text + strings.Join(c.Points, "; ")
		}
	}
	if !regexp.MustCompile(`[\d,]+ to [\d,]+ more questions \(\$[\d.,]+ in batches, \$[\d.,]+ live\) would very likely tell them apart`).MatchString(text) {
		t.Error(text)
	}
	d.Spend[len(d.Spend)-1].Batch = assay.Cost{Unknown: 1}
	if a := words.Summarise(d).Settling[0].Likely; a.Cost.Batch.OK || !a.Cost.Live.OK {
		t.Errorf("a judge without batches: %+v", a)
	}
}

// Where lanes are alike to the last mark, no number of questions is promised.
// Rules judge for nothing: a further question costs the answers of all lanes, 2 dollars for 60 of each.
func TestAQuoteOfARuleHasThePriceOfTheAnswers(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{
		"aa": strings.Repeat("+", 30) + strings.Repeat("-", 12) + strings.Repeat("+", 12) + strings.Repeat("-", 6),
		"bb": strings.Repeat("+", 35) + strings.Repeat("-", 25),
		"cc": strings.Repeat("+", 6) + strings.Repeat("-", 54),
	}, nil)
	var text string
	for _, c := range words.Summarise(d).Caveats {
		text += c.Title + strings.Join(c.Points, "; ")
	}
	got := quoted.FindStringSubmatch(text)
	if got == nil {
		t.Fatalf("no quote with its price in %q", text)
	}
	if each := number(t, got[5]) / number(t, got[4]); math.Abs(each/(6./60)-1) > 0.03 {
		t.Errorf("one more question costs $%.4f: %s", each, text)
	}
}

func TestNothingIsQuotedForTwins(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("+-", 20)
	for _, c := range words.Summarise(judged(t, map[string]string{"aa": line, "bb": line}, nil)).Caveats {
		if c.Title == "Not settled." {
			t.Error(fmt.Sprint(c))
		}
	}
}

// TestLabelsThatWereChosenAreSaidInTheSummary: where people alone judge, what they chose to compare bears on the
// headline.
func TestLabelsThatWereChosenAreSaidInTheSummary(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"aa": strings.Repeat("+-", 20), "bb": strings.Repeat("+--+", 10)}, nil)
	said := func() (n int) {
		for _, c := range words.Summarise(d).Caveats {
			if c.Title == "Labels were chosen." &&
				strings.Contains(c.Text, "7 labels were chosen because it was not clear which of the two is better") {
				n++
			}
		}
		return n
	}
	if n := said(); n != 0 {
		t.Errorf("said %d times of labels that were not", n)
	}
	d.Report.Leaderboards[0].Unclear = 7
	if n := said(); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// TestTablesOfThreeSayRanksAndWhoMayBeBest: one column of ranks, and the chance of being the best of those that may be.
func TestTablesOfThreeSayRanksAndWhoMayBeBest(t *testing.T) {
	t.Parallel()
	marks := map[string]string{ // aa and bb are close, cc is far behind
		"aa": strings.Repeat("+", 30) + strings.Repeat("-", 12) + strings.Repeat("+", 12) + strings.Repeat("-", 6),
		"bb": strings.Repeat("+", 35) + strings.Repeat("-", 25),
		"cc": strings.Repeat("+", 6) + strings.Repeat("-", 54),
	}
	table := words.StageTables(judged(t, marks, nil))[0]
	at := len(table.Head) - 1
	if table.Head[at].Text != "ranks" {
		t.Fatalf("%v", table.Head)
	}
	for k, want := range []string{"1–2", "1–2", "3"} {
		if got := table.Rows[k][at]; got != want {
			t.Errorf("row %d: ranks %s, want %s", k, got, want)
		}
	}
	best := regexp.MustCompile(`Chance of being the best: aa (\d+)%, bb (\d+)%\.`).FindStringSubmatch(table.Note)
	if best == nil {
		t.Fatal(table.Note)
	}
	// Of two, the chance is that of their difference.
	mean, variance := differences(marks["aa"], marks["bb"])
	if want := 100 * (1 - math.Erfc(mean/math.Sqrt(2*variance))/2); math.Abs(number(t, best[1])-want) > 2 ||
		math.Abs(number(t, best[1])+number(t, best[2])-100) > 1 {
		t.Errorf("%s, want about %.0f%%", table.Note, want)
	}
	delete(marks, "cc")
	if table := words.StageTables(judged(t, marks, nil))[0]; table.Head[len(table.Head)-1].Text == "ranks" ||
		strings.Contains(table.Note, "best") {
		t.Errorf("of two: %v, %s", table.Head, table.Note)
	}
}

// TestOfManyNeighboursTheFirstAreQuotedAndTheOthersCounted: the summary stays short; the list has them all.
func TestOfManyNeighboursTheFirstAreQuotedAndTheOthersCounted(t *testing.T) {
	t.Parallel()
	marks := map[string]string{}
	for i := range 9 { // 30 to 38 of 60 are right, each lane on other items
		right := 30 + i
		line := strings.Repeat("+", right) + strings.Repeat("-", 60-right)
		marks[fmt.Sprintf("l%d", i)] = line[7*i%60:] + line[:7*i%60]
	}
	s := words.Summarise(judged(t, marks, nil))
	if len(s.Settling) < 6 {
		t.Fatalf("%d neighbours are quoted, want more than are shown", len(s.Settling))
	}
	for _, c := range s.Caveats {
		if c.Title != "Not settled." {
			continue
		}
		want := fmt.Sprintf("%d pairs more: assay analyse", len(s.Settling)-4)
		if len(c.Points) != 5 || !strings.HasPrefix(c.Points[4], want) ||
			!strings.HasPrefix(c.Points[0], s.Settling[0].First+" and "+s.Settling[0].Second+": ") {
			t.Errorf("points %q, want four and %q", c.Points, want)
		}
		if len(c.Text) > 150 {
			t.Errorf("%d bytes before the points: %s", len(c.Text), c.Text)
		}
		return
	}
	t.Error("nothing is said")
}

// texts returns a document of a stage that ranks texts by so many pairs, for two traits: neighbours differ by a third of
// what would tell them apart.
func texts(n, pairs int, limit string) *report.Document {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("S%02d", i)
	}
	d := &report.Document{Run: "r1", Created: noon, Closed: noon,
		Rerun: report.Rerun{Command: "assay run essays/s.yaml", File: "essays/s.yaml"},
		Where: " --home h", Report: &analysis.Report{}, Pairings: map[string]report.Pairing{"arena": {Input: "samples", Limit: limit}}}
	for _, trait := range []string{"wit", "order"} {
		s := ranking(names)
		s.By, s.Primary = []analysis.Value{{Field: "trait", Value: trait}}, trait == "wit"
		s.Field, s.Clusters, s.Coverage = analysis.ByItem, pairs, analysis.Coverage{Planned: pairs, Valid: pairs}
		for i := range s.Tests {
			t := &s.Tests[i]
			t.SE, t.Clusters, t.P = stats.Known(0.7), pairs, stats.Known(0.2)
			t.Information = stats.Known(1 / (0.49 * float64(pairs)))
		}
		d.Report.Leaderboards = append(d.Report.Leaderboards, s)
	}
	return d
}

// bothWays has every pair shown both ways.
func bothWays(d *report.Document) *report.Document {
	p := d.Pairings["arena"]
	p.Both = true
	d.Pairings["arena"] = p
	return d
}

// TestPairsThatCannotBeBoughtAreNotQuoted: texts have no more pairs than they have. What would help is said once a stage.
func TestPairsThatCannotBeBoughtAreNotQuoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d              *report.Document
		quoted         bool
		title, command string
		text           []string
	}{
		"all judged": {texts(6, 15, ""), false, "No pairs left.", "",
			[]string{"all 15 pairs are judged", "`judges`", "`order: both`", "input samples", "in essays/s.yaml"}},
		"few left": {texts(6, 14, "sample"), false, "No pairs left.", "", []string{"14 pairs are judged, and 1 more is not enough"}},
		"both ways already": {bothWays(texts(6, 15, "")), false, "No pairs left.", "",
			[]string{"Add a judge (`judges` of the stage) or add texts"}},
		"many left, and too few for neighbours": {texts(20, 120, "sample"), false, "More pairs.",
			"assay run essays/s.yaml --set stages.arena.pairs.sample=190",
			[]string{"has judged 120 pairs of its texts and leaves 70 out", "some neighbours are too close even for all of them"}},
		"few judged": {texts(6, 5, "sample"), false, "More pairs.",
			"assay run essays/s.yaml --set stages.arena.pairs.sample=15 --home h",
			[]string{"has judged 5 pairs of its texts and leaves 10 out"}},
		"a list": {texts(40, 60, "file"), true, "More pairs.", "", []string{"Change `file` in the `pairs` of the stage (essays/s.yaml)"}},
		"enough": {texts(40, 60, "sample"), true, "More pairs.", "assay run essays/s.yaml --set stages.arena.pairs.sample=", nil},
	} {
		s, found, listed := words.Summarise(c.d), 0, false
		for _, x := range s.Caveats {
			listed = listed || x.Title == "Not settled."
			if x.Title != "More pairs." && x.Title != "No pairs left." {
				continue
			}
			found++
			if x.Title != c.title || !strings.HasPrefix(x.Command, c.command) || (x.Command == "") != (c.command == "") {
				t.Errorf("%s: %+v", name, x)
			}
			for _, want := range c.text {
				if !strings.Contains(x.Text, want) {
					t.Errorf("%s: %q is not in %q", name, want, x.Text)
				}
			}
		}
		if found != 1 || listed != c.quoted {
			t.Errorf("%s: said %d times, quoted %v", name, found, listed)
		}
		n := len(c.d.Report.Leaderboards[0].Places)
		left := float64(n*(n-1)/2 - c.d.Report.Leaderboards[0].Clusters)
		for _, x := range s.Settling {
			if x.Even.Known != c.quoted || x.Likely.Known && x.Likely.N > left {
				t.Errorf("%s: %+v, and %g pairs are left", name, x, left)
			}
		}
	}
}

// TestAQuoteOfLanesKeepsToWhatIsLeft: quotes count comparisons, not verdicts; where two lanes have fewer left on their items,
// they count items.
func TestAQuoteOfLanesKeepsToWhatIsLeft(t *testing.T) {
	t.Parallel()
	quotes := func(comparing map[string]report.Comparing) []words.Settling {
		d := texts(4, 60, "")
		d.Report.Leaderboards, d.Comparing = d.Report.Leaderboards[:1], comparing
		d.Report.Leaderboards[0].Field = analysis.ByLane
		return words.Summarise(d).Settling
	}
	verdicts := quotes(nil)
	if len(verdicts) == 0 {
		t.Fatal("nothing is quoted")
	}
	for _, left := range []int{5, 1_000_000} {
		c := report.Comparing{Verdicts: 2, PerItem: 2, Left: map[[2]string]int{}}
		for _, v := range verdicts {
			c.Left[[2]string{v.First, v.Second}] = left
		}
		for k, s := range quotes(map[string]report.Comparing{"arena": c}) {
			n, items := words.Comparisons(verdicts[k].Likely.N, 2, left, 2)
			want := words.Amount{N: float64(n), Known: true, Cost: verdicts[k].Likely.Cost}
			if items > 0 {
				want = words.Amount{N: float64(items), Known: true, Unit: "item"}
			}
			if s.Likely != want {
				t.Errorf("%s and %s, %d left: %+v, want %+v", s.First, s.Second, left, s.Likely, want)
			}
		}
	}
	for _, left := range []int{0, 1_000_000} { // three do not show how far apart they lie: a range, in one unit
		d := texts(3, 60, "")
		d.Report.Leaderboards = d.Report.Leaderboards[:1]
		b := &d.Report.Leaderboards[0]
		b.Field = analysis.ByLane
		c := report.Comparing{Verdicts: 1, PerItem: 1, Left: map[[2]string]int{}}
		for _, two := range words.Neighbours(b) {
			c.Left[two] = left
		}
		d.Comparing = map[string]report.Comparing{"arena": c}
		unit := map[bool]string{true: "item"}[left == 0]
		for _, q := range words.Summarise(d).Settling {
			if !q.AsFound.Known || q.AsFound.Unit != unit || q.Likely.Unit != unit || q.AsFound.N >= q.Likely.N || q.Likely.N > 20_000 {
				t.Errorf("%d left: %+v", left, q)
			}
		}
	}
	for _, c := range []struct{ each, left, per, n, items int }{
		{1, 200, 2, 57, 0}, {3, 200, 2, 19, 0}, {1, 57, 2, 57, 0}, {1, 40, 2, 40, 9}, {1, 0, 2, 0, 29}, {1, 0, 1, 0, 57},
	} {
		if n, items := words.Comparisons(56.2, c.each, c.left, c.per); n != c.n || items != c.items {
			t.Errorf("%+v: %d, %d", c, n, items)
		}
	}
}
