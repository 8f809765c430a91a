package pages_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
)

// judged returns a document of one stage: of each lane + is right, - wrong, and anything else a verdict that cannot be
// read.
func judged(t *testing.T, marks map[string]string, change func(*analysis.Stage)) *report.Document {
	t.Helper()
	num := func(x float64) *float64 { return &x }
	stage := analysis.Stage{
		Name: "correct", Verb: analysis.Judged, Labels: []analysis.Label{{Name: "right", Score: num(1)}, {Name: "wrong", Score: num(0)}},
		Low: num(0), High: num(1), Worst: num(0), Judges: []string{"judge"},
	}
	if change != nil {
		change(&stage)
	}
	var expected, rows []analysis.Row
	d := &report.Document{Study: "s", Run: "r1", Created: noon, Closed: noon, Nouns: map[string]string{"correct": "questions"},
		Rerun: report.Rerun{Command: "assay run s.yaml", File: "s.yaml"}}
	for lane, line := range marks {
		for i, m := range line {
			r := analysis.Row{Stage: "correct", Judge: "judge", Lane: lane, Item: fmt.Sprintf("q%03d", i), Turn: 1, Draw: 1,
				State: assay.VerdictValid, Label: "wrong", Score: num(0)}
			expected = append(expected, r)
			switch m {
			case '+':
				r.Label, r.Score = "right", num(1)
			case '-':
			default:
				r.State = assay.VerdictMalformed
			}
			rows = append(rows, r)
		}
		d.Lanes = append(d.Lanes, report.Lane{Stage: "answers", Name: lane, Model: "vendor/model-of-" + lane, Asks: true,
			Planned: int64(len(line)), Endings: map[assay.Ending]int64{assay.Answered: int64(len(line))}})
		d.Spend = append(d.Spend, report.Spend{Stage: "answers", Lane: lane, Asks: true, Answers: 1000,
			Cost: assay.Cost{Sum: assay.Dollars(float64(len(lane))), Priced: 1000}})
	}
	b, err := methods.Open([]analysis.Stage{stage}, []analysis.Spec{{Stage: "correct"}}, analysis.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	each := func(rows []analysis.Row) iter.Seq2[*analysis.Row, error] {
		return func(yield func(*analysis.Row, error) bool) {
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
	}
	if err := b.Expect(each(expected)); err != nil {
		t.Fatal(err)
	}
	if err := b.Read(each(rows)); err != nil {
		t.Fatal(err)
	}
	if d.Report, err = b.Report(); err != nil {
		t.Fatal(err)
	}
	return d
}

// apart decides from marks alone, by other code than the program's, which lanes can be told apart: exact McNemar tests
// of all pairs, adjusted by Holm's rule as it is written (reject the smallest while p is at most alpha over the number
// of those left).
func apart(marks map[string]string) map[[2]string]bool {
	type test struct {
		a, b string
		p    float64
	}
	var lanes []string
	for l := range marks {
		lanes = append(lanes, l)
	}
	slices.Sort(lanes)
	var tests []test
	for i, a := range lanes {
		for _, b := range lanes[i+1:] {
			x, y := 0, 0
			for k := range marks[a] {
				switch {
				case marks[a][k] == '+' && marks[b][k] == '-':
					x++
				case marks[a][k] == '-' && marks[b][k] == '+':
					y++
				}
			}
			p := 0.0
			for k := range x + y + 1 {
				if min(k, x+y-k) <= min(x, y) {
					l, _ := math.Lgamma(float64(x + y + 1))
					m, _ := math.Lgamma(float64(k + 1))
					n, _ := math.Lgamma(float64(x + y - k + 1))
					p += math.Exp(l - m - n - float64(x+y)*math.Ln2)
				}
			}
			tests = append(tests, test{a, b, p})
		}
	}
	slices.SortFunc(tests, func(s, t test) int {
		if s.p < t.p {
			return -1
		}
		return 1
	})
	out := map[[2]string]bool{}
	for k, t := range tests {
		if t.p >= 0.05/float64(len(tests)-k) {
			break
		}
		out[[2]string{t.a, t.b}], out[[2]string{t.b, t.a}] = true, true
	}
	return out
}

// sure fails where the letters of a board are not those of the tests.
func sure(t *testing.T, marks map[string]string, b *words.Board) {
	t.Helper()
	want := apart(marks)
	for i, x := range b.Rows {
		for _, y := range b.Rows[:i] {
			shares := strings.ContainsAny(x.Tier, y.Tier)
			if shares == want[[2]string{x.Name, y.Name}] {
				t.Errorf("%s (%s) and %s (%s): can be told apart: %t", x.Name, x.Tier, y.Name, y.Tier, !shares)
			}
		}
		if i > 0 && strings.Count(marks[b.Rows[i-1].Name], "+") < strings.Count(marks[x.Name], "+") {
			t.Errorf("%s stands before %s", b.Rows[i-1].Name, x.Name)
		}
	}
}

func text(s *words.Summary) string {
	all := s.Headline.String()
	for _, f := range s.Further {
		all += "\n" + f.String()
	}
	for _, c := range s.Caveats {
		all += "\n" + c.Title + " " + c.Text + " " + c.Command
	}
	return all + "\n" + s.Coverage
}

// TestMissingVerdictsAreToldOnceAStage has a stage that ranks in two groups: each has the coverage of the stage.
func TestMissingVerdictsAreToldOnceAStage(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "++++......", "b": "+++-......"}, nil)
	d.Report.Leaderboards = append(d.Report.Leaderboards, d.Report.Leaderboards[0])
	if all := text(words.Summarise(d)); strings.Count(all, "Verdicts are missing.") != 1 {
		t.Error(all)
	}
}

func TestTheHeadlineSaysWhatCanBeToldApart(t *testing.T) {
	t.Parallel()
	repeat := strings.Repeat
	for _, c := range []struct {
		name  string
		marks map[string]string
		says  []string
	}{
		{"few items", map[string]string{"a": "++++-", "b": "+----"}, []string{
			"No difference was found between a and b (20 to 80% right). Cheapest of them: a, $1.00 per 1,000 answers.",
		}},
		{"two lanes, one ahead", map[string]string{"good": repeat("+", 20), "poor": repeat("+", 5) + repeat("-", 15)}, []string{
			"good is ahead (100% right). It costs $4.00 per 1,000 answers.\npoor is behind: 25% right, 75 points less.",
		}},
		{"equal lanes", map[string]string{"a": "+-+-+-+-", "b": "+-+-+-+-", "c": "+-+-+-+-"},
			[]string{"No difference was found among a, b and c (50% right)."}},
		{"a tier of three, one behind", map[string]string{
			"a": repeat("+", 20) + repeat("-", 10), "bb": repeat("+", 18) + repeat("-", 12),
			"ccc": repeat("-", 3) + repeat("+", 18) + repeat("-", 9), "z": "+" + repeat("-", 29),
		}, []string{"a, bb and ccc lead (60 to 67% right); no difference between them was found. Cheapest of them: a, ",
			"z is behind: 3% right, 57 to 63 points less."}},
		{"one lane", map[string]string{"only": "++++++-----"}, []string{
			"only: 55% right (95% interval 28 to 79%). It costs $4.00 per 1,000 answers.\nThere is no other lane to compare it with."}},
		{"incomplete", map[string]string{"a": repeat("+", 12) + "......", "b": repeat("+", 11) + "-......"}, []string{
			"Verdicts are missing. 24 of 36 verdicts of stage correct are there. 12 could not be read, or the judge did not decide. See " +
				"why: assay errors r1 --verdicts", "67% of the planned verdicts are there.",
		}},
		{"nothing valid", map[string]string{"a": "....", "b": "...."},
			[]string{"No result: all 8 verdicts of correct are unreadable.", "0% of the planned verdicts are there."}},
	} {
		d := judged(t, c.marks, nil)
		s := words.Summarise(d)
		for _, want := range c.says {
			if !strings.Contains(text(s), want) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, want, text(s))
			}
		}
		short(t, s)
		if s.Board == nil || len(s.Board.Rows) != len(c.marks) {
			t.Fatalf("%s: board %+v", c.name, s.Board)
		}
		if s.Board.Tiers {
			sure(t, c.marks, s.Board)
		}
	}
}

func TestPairsThatWereNotTestedAreNotCalledAlike(t *testing.T) {
	t.Parallel()
	repeat := strings.Repeat
	none := repeat(".", 20)
	for _, c := range []struct {
		name  string
		marks map[string]string
		says  []string
	}{
		{"one lane on other items", map[string]string{"a": repeat("+", 20) + none, "b": repeat("+", 18) + "--" + none,
			"c": none + repeat("+", 17) + "---"}, []string{
			"a comes first (100% right); whether it is ahead of c is not known. a costs $1.00 per 1,000 answers.\n" +
				"b cannot be told apart from it.\n2 of 3 pairs of lanes could not be tested: no item has verdicts on both.",
		}},
		{"one lane on other items, one behind", map[string]string{"a": repeat("+", 20) + none, "b": "++" + repeat("-", 18) + none,
			"c": none + repeat("+", 17) + "---"}, []string{
			"a comes first (100% right); whether it is ahead of c is not known. a costs $1.00 per 1,000 answers.\n" +
				"b is behind a: 10% right, 90 points less.\n2 of 3 pairs",
		}},
		{"the others share no item",
			map[string]string{"a": repeat("+", 40), "b": repeat("+", 18) + "--" + none, "c": none + repeat("+", 17) + "---"}, []string{
				"a comes first (100% right); b and c cannot be told apart from it. Cheapest of them: a, ",
				"1 of 3 pairs of lanes could not be tested: no item has verdicts on both.",
			}},
		{"two lanes", map[string]string{"a": repeat("+", 20) + none, "b": none + repeat("-", 20)}, []string{
			"a comes first (100% right); whether that is more than chance is not known. a costs $1.00 per 1,000 answers.\n" +
				"It could not be tested: no item has verdicts on both.",
		}},
	} {
		d := judged(t, c.marks, nil)
		s := words.Summarise(d)
		for _, want := range c.says {
			if !strings.Contains(text(s), want) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, want, text(s))
			}
		}
		table := words.StageTables(d)[0]
		if s.Board.Tiers || table.Head[0].Text == "tier" {
			t.Errorf("%s: there are letters: %+v %+v", c.name, s.Board.Rows, table.Rows)
		}
		for _, note := range []string{s.Board.Note, table.Note} {
			if !strings.Contains(note, "could not be tested: no item has verdicts on both.") || strings.Contains(note, "all pairs tested") {
				t.Errorf("%s: note %q", c.name, note)
			}
		}
	}
}

func TestTiersAreThoseOfOtherCode(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 17))
	overlaps := 0
	for _, lanes := range []int{2, 3, 4, 6, 15, 15, 15} {
		marks := map[string]string{}
		for l := range lanes {
			var b strings.Builder
			for range 60 {
				b.WriteByte("-+"[min(1, int(r.Float64()+0.1+0.8*float64(l)/float64(lanes)))])
			}
			marks[fmt.Sprintf("lane%02d", l)] = b.String()
		}
		s := words.Summarise(judged(t, marks, nil))
		sure(t, marks, s.Board)
		for _, row := range s.Board.Rows {
			if len(row.Tier) > 1 {
				overlaps++
			}
		}
	}
	if overlaps == 0 {
		t.Error("no lane stands in two tiers: nothing is tried here")
	}
}

func TestFifteenLanesAreSaidInAHeadline(t *testing.T) {
	t.Parallel()
	marks := map[string]string{}
	for l := range 15 {
		marks[fmt.Sprintf("lane%02d", l)] = strings.Repeat("+", 10+4*l) + strings.Repeat("-", 60-4*l)
	}
	s := words.Summarise(judged(t, marks, nil))
	short(t, s)
	if !strings.Contains(text(s), "The other 12 are behind lane14: ") {
		t.Error(text(s))
	}
}

// short fails where a headline is longer than 25 words.
func short(t *testing.T, s *words.Summary) {
	t.Helper()
	if n := len(strings.Fields(s.Headline.String())); n > 25 {
		t.Errorf("%d words: %s", n, s.Headline)
	}
}

// TestAFewVotesAreALine has 6 of 100 verdicts, which show nothing.
func TestAFewVotesAreALine(t *testing.T) {
	t.Parallel()
	s := words.Summarise(judged(t, map[string]string{"a": "+++" + strings.Repeat(".", 47), "b": "+-+" + strings.Repeat(".", 47)}, nil))
	if s.Headline.String() != "6 of 100 verdicts: too early to rank." || len(s.Further) > 0 {
		t.Error(text(s))
	}
	s = words.Summarise(judged(t, map[string]string{"a": strings.Repeat("+", 12) + strings.Repeat(".", 188),
		"b": strings.Repeat("-", 12) + strings.Repeat(".", 188)}, nil))
	if !strings.HasPrefix(s.Headline.String(), "a is ahead") {
		t.Error("a difference that is there is told: " + text(s))
	}
	d := judged(t, map[string]string{"a": strings.Repeat("+-", 10), "b": strings.Repeat("-+", 10)}, nil)
	lead := d.Report.Leaderboards[0]
	for stage, c := range map[string]analysis.Coverage{
		"early": {Planned: 60, Valid: 1, Missing: 59}, "empty": {Planned: 60, Missing: 60},
		"unreadable": {Planned: 60, Malformed: 3, Missing: 57},
	} {
		r := lead
		r.Stage, r.Coverage, r.Tests = stage, c, nil
		if r.Places = slices.Clone(lead.Places); c.Valid > 0 {
			r.Position = &analysis.ShownFirst{First: stats.Known(1), OneOrder: true}
		} else {
			for i := range r.Places {
				r.Places[i].Value = stats.Undefined("no values")
			}
		}
		d.Report.Leaderboards = append(d.Report.Leaderboards, r)
	}
	s = words.Summarise(d)
	var said []string
	for _, m := range s.Board.Multiples() {
		said = append(said, m.Words.String())
	}
	slices.Sort(said)
	if want := []string{"In early, 1 of 60 verdicts: too early to rank.", "In empty, no verdicts yet: 0 of 60.",
		"In unreadable, no result: all 3 verdicts are unreadable."}; !slices.Equal(said, want) {
		t.Errorf("%q, not %q", said, want)
	}
	if strings.Contains(text(s), "One order.") {
		t.Error("one comparison shows an order: " + text(s))
	}
}

// TestWhatToDoIsThreeActionsAtMost has a judge that nobody checked, few questions and missing answers.
func TestWhatToDoIsThreeActionsAtMost(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "++++--+-+-", "b": "++----+---", "c": "+-+-+-+-+-"}, nil)
	d.Lanes[0].Endings[assay.Expired], d.Lanes[1].Endings[assay.Rejected] = 4, 1
	s := words.Summarise(d)
	var got []string
	for _, a := range s.Actions() {
		got = append(got, a.Button+": "+a.Size+": "+a.Command)
	}
	want := []string{"Send again: 4 requests: assay retry r1", "See why answers are missing: 1 request: assay errors r1",
		"Check the judge: 30 labels, about 8 minutes: assay label r1 correct --count 30"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.BasisLine() != "10 questions · judge unchecked · all verdicts are there" {
		t.Error(s.BasisLine())
	}
}

// TestThePictureHasOneAxis holds what is drawn of every lane against the numbers beside it.
func TestThePictureHasOneAxis(t *testing.T) {
	t.Parallel()
	b := words.Summarise(judged(t, map[string]string{"a": "++++++++--", "b": "++++------", "c": "----------"}, nil)).Board
	if got := fmt.Sprint(b.Columns[0].Axis); got != "[{0 0% false} {25 25% true} {50 50% false} {75 75% true} {100 100% false}]" {
		t.Error(got)
	}
	for i, want := range []float64{80, 40, 0} {
		if c := b.Rows[i].Cells[0]; !c.Drawn || c.At != want || c.Whisker && (c.From > c.At || c.From+c.Wide < c.At) {
			t.Errorf("%s: %+v, want %g", b.Rows[i].Name, c, want)
		}
	}
}

// TestFewClustersShowLess: Student's t of one degree of freedom takes more than five times what a normal one does.
func TestFewClustersShowLess(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": strings.Repeat("++++--", 6), "b": strings.Repeat("++----", 6)}, nil)
	b := &d.Report.Leaderboards[0]
	if said := text(words.Summarise(d)); !strings.Contains(said, "36 questions can show differences of about ") {
		t.Error(said)
	}
	b.Test, b.Clusters = analysis.ByErrors, 2
	if said := text(words.Summarise(d)); !strings.Contains(said, "2 questions can show no difference, however large") {
		t.Error(said)
	}
}

func TestCaveatsSayWhatToType(t *testing.T) {
	t.Parallel()
	marks := map[string]string{"a": "++++--", "b": "++----"}
	d := judged(t, marks, func(s *analysis.Stage) { s.Families = map[string]string{"judge": "x", "a": "x", "b": "y"} })
	d.Where, d.Sources = " --home h", map[string]string{"correct": "questions"}
	said := text(words.Summarise(d))
	for _, want := range []string{
		"Judge unchecked. The judge of stage correct: no person has checked it. Label all 12 answers yourself, about 3 minutes: assay " +
			"label r1 correct --count 12 --home h",
		"Few questions. 6 questions can show differences of about ", "10 points need about ",
		"First add rows to input `questions` in s.yaml, then type (answers are kept): assay run s.yaml --home h",
		"One judge. judge is of the same family as a, and may favour its own. First add a lane of another provider to `lanes` and to " +
			"`judges` of stage correct in s.yaml, then type (answers are kept): assay run s.yaml --home h",
		"100% of the planned verdicts are there. No answer was cut or refused.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	d.Drawn = map[string]int{"questions": 6}
	drawn := "First raise `sample` of input `questions`, now 6, in s.yaml, then type (answers are kept): assay run s.yaml --home h"
	if said := text(words.Summarise(d)); !strings.Contains(said, drawn) {
		t.Errorf("it does not say %q:\n%s", drawn, said)
	}
	d.Rerun.Limit, d.Rerun.Whole = 6, "assay run s.yaml"
	want := "The run asks about the first 6 of each input alone. All of them; answers are kept: assay run s.yaml --home h"
	if !strings.Contains(text(words.Summarise(d)), want) {
		t.Errorf("it does not say %q:\n%s", want, text(words.Summarise(d)))
	}
	d = judged(t, marks, func(s *analysis.Stage) { s.Validated = true })
	d.Lanes[0].Open, d.Lanes[0].Endings[assay.Cut] = 3, 2
	d.Lanes[1].Endings[assay.Expired], d.Lanes[1].Endings[assay.Rejected] = 4, 1
	said = text(words.Summarise(d))
	for _, want := range []string{"Answers are missing. 4 requests ended without an answer. Send them again: assay retry r1",
		"1 request was rejected by the provider or came back empty. See why: assay errors r1", "2 answers were cut short, 0 refused."} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "unchecked") {
		t.Error(said)
	}
	d.Closed, d.Standing = time.Time{}, report.Standing{State: "stopped", Why: "No process drives it.", Next: []string{"assay resume r1"}}
	if said = text(words.Summarise(d)); !strings.Contains(said,
		"Stopped. No process drives it. 3 requests have no answer yet. What is said here may still change. assay resume r1") {
		t.Error(said)
	}
	d.Rerun.Command = "assay run s.yaml"
	for _, c := range []struct{ next, button, command string }{
		{"assay resume r1", "Go on", "assay resume r1"}, {"assay errors r1 --verdicts", "See why", "assay errors r1 --verdicts"},
		{"assay run", "Go on", "assay run s.yaml"},
	} {
		d.Standing.Next = []string{c.next}
		if a := words.Summarise(d).Actions()[0]; a.Button != c.button || a.Command != c.command {
			t.Errorf("after %q: %q %q", c.next, a.Button, a.Command)
		}
	}
}

func TestARunThatJudgesNothingSaysSo(t *testing.T) {
	t.Parallel()
	d := &report.Document{Study: "s", Run: "r1", Created: noon, Closed: noon, Report: &analysis.Report{},
		Lanes: []report.Lane{{Stage: "a", Name: "m", Asks: true, Planned: 4, Endings: map[assay.Ending]int64{assay.Answered: 3}}}}
	s := words.Summarise(d)
	if s.Board != nil || s.Complete || s.Headline.String() !=
		"Nothing was judged: no stage of this study judges or compares its answers." || s.Coverage != "3 of 4 requests have an answer." {
		t.Errorf("%+v", s)
	}
	d.Reads = map[string][]string{"fine": {"a"}}
	if s := words.Summarise(d); s.Headline.String() != "Nothing was judged yet: there is no verdict." {
		t.Errorf("with a stage that judges: %s", s.Headline)
	}
}

func TestACostThatIsNotKnownIsNeverTheCheapest(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "+-+-", "bb": "+--+", "ccc": "-+-+"}, nil)
	for i := range d.Spend {
		if d.Spend[i].Lane == "a" {
			d.Spend[i].Cost = assay.Cost{Unknown: 1000}
		}
	}
	s := words.Summarise(d)
	if !strings.Contains(text(s),
		"Cheapest of the 2 whose prices are known: bb, $2.00 per 1,000 answers.") {
		t.Error(text(s))
	}
	for _, row := range s.Board.Rows {
		if row.Name == "a" && row.Cost != "unknown" {
			t.Errorf("%+v", row)
		}
	}
}

func TestItemsThatAreComparedRestOnPairs(t *testing.T) {
	t.Parallel()
	s := ranking([]string{"S1", "S2", "S3"})
	s.Field, s.Clusters = analysis.ByItem, 190
	for i := range s.Tests {
		s.Tests[i].SE.Value = 2
	}
	d := &report.Document{Run: "r1", Created: noon, Closed: noon, Nouns: map[string]string{"arena": "samples"},
		Report: &analysis.Report{Leaderboards: []analysis.Leaderboard{s}}}
	if said := text(words.Summarise(d)); !strings.Contains(said, "S3 is ahead of all others (80% of comparisons won).") ||
		strings.Contains(said, "Few ") || strings.Contains(said, "cost") {
		t.Error(said)
	}
}

func TestABoardHasNoColumnOfOtherLanes(t *testing.T) {
	t.Parallel()
	d := judged(t, map[string]string{"a": "++--++--++", "bb": "+-+-+++-+-"}, nil)
	other := judged(t, map[string]string{"ann": "++++++++++", "bob": "+++++-----"}, nil)
	half := judged(t, map[string]string{"bb": "++++++++++", "bob": "+++++-----"}, nil)
	for i, add := range []*report.Document{other, half} {
		st := add.Report.Leaderboards[0]
		st.Stage = fmt.Sprintf("more%d", i)
		d.Report.Leaderboards = append(d.Report.Leaderboards, st)
	}
	b := words.Summarise(d).Board
	var heads []string
	for _, c := range b.Columns {
		heads = append(heads, c.Stage)
	}
	if diff := cmp.Diff([]string{"correct", "more1"}, heads); diff != "" {
		t.Error(diff)
	}
	for _, r := range b.Rows {
		if c := r.Cells[1]; c.None != (r.Name == "a") {
			t.Errorf("%s: %+v", r.Name, c)
		}
	}
}

func TestHeadsOfAGridAreTheLanesByRank(t *testing.T) {
	d := &report.Document{Report: &analysis.Report{Leaderboards: []analysis.Leaderboard{ranking([]string{"a", "b", "c"})}},
		Spend: []report.Spend{{Stage: "answers", Lane: "c", Asks: true, Answers: 10, Cost: assay.Cost{Sum: assay.Dollars(0.05)}}}}
	want := []report.MatrixHead{{Name: "c", Value: "80.0%", Cost: "$5.00"}, {Name: "b", Value: "60.0%"}, {Name: "a", Value: "40.0%"}}
	if diff := cmp.Diff(want, words.Heads(d, "arena")); diff != "" {
		t.Error(diff)
	}
	for i := range want {
		want[i].Value = ""
	}
	if diff := cmp.Diff(want, words.Heads(d, "another stage")); diff != "" {
		t.Error(diff)
	}
	m := &report.Matrix{Lanes: []report.MatrixHead{{Name: "x"}, {Name: "a"}, {Name: "c", Sort: "ascending"}},
		Rows: []report.MatrixRow{{Cells: []report.MatrixCell{{Sign: "x"}, {Sign: "a"}, {Sign: "c"}}}}}
	m.Rank(want)
	signs := ""
	for _, c := range m.Rows[0].Cells {
		signs += c.Sign
	}
	if signs != "cax" || m.Lanes[0].Cost != "$5.00" || m.Lanes[0].Sort != "ascending" || m.Lanes[2].Name != "x" {
		t.Errorf("%s %+v", signs, m.Lanes)
	}
}
