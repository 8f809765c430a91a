package pages_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
)

// compared returns a document of one stage of comparisons, a line for each: first, second, who won (1 or 2, a digit an
// item).
func compared(t *testing.T, change func(*analysis.Stage), lines ...string) *report.Document {
	t.Helper()
	stage := analysis.Stage{Name: "pairs", Verb: analysis.Compared, Judges: []string{"judge"}, Validated: true}
	if change != nil {
		change(&stage)
	}
	var rows []analysis.Row
	for _, line := range lines {
		f := strings.Fields(line)
		for i, m := range f[2] {
			label := map[rune]string{'1': "a", '2': "b"}[m]
			rows = append(rows, analysis.Row{Stage: "pairs", Judge: "judge", Lane: f[0], Other: f[1], Item: fmt.Sprintf("q%03d", i),
				Turn: 1, Draw: 1, State: assay.VerdictValid, Label: label})
		}
	}
	b, err := methods.Open([]analysis.Stage{stage}, []analysis.Spec{{Stage: "pairs"}}, analysis.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	each := func(yield func(*analysis.Row, error) bool) {
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
	if err := b.Expect(each); err != nil {
		t.Fatal(err)
	}
	if err := b.Read(each); err != nil {
		t.Fatal(err)
	}
	d := &report.Document{Study: "s", Run: "r1", Created: noon, Closed: noon, Nouns: map[string]string{"pairs": "questions"},
		Rerun: report.Rerun{Command: "assay run s.yaml", File: "s.yaml"}}
	if d.Report, err = b.Report(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestALaneThatWinsEverythingIsTheAnswer(t *testing.T) {
	t.Parallel()
	s := words.Summarise(compared(t, nil, "a b 111111111111"))
	if want := "a is ahead (100% of comparisons won)."; s.Headline.String() != want {
		t.Errorf("headline %q", s.Headline)
	}
	if want := "12 questions · judged by a rule · each two shown in one order only · all verdicts are there"; s.BasisLine() != want {
		t.Errorf("it rests on %q", s.BasisLine())
	}
	for _, want := range []string{"b is behind: 0% of comparisons won.",
		"Every two were shown in one order only, so that this may be the place and not the answer."} {
		if !strings.Contains(text(s), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if s.Board == nil || !s.Board.Tiers || s.Board.Rows[0].Tier != "A" || s.Board.Rows[1].Tier != "B" ||
		s.Board.Rows[0].Cells[0].Text != "100.0%" || s.Board.Rows[0].Cells[0].Between == "" {
		t.Errorf("board %+v", s.Board)
	}
	if all := text(s); !strings.Contains(all, "No strengths. In stage pairs, a won all of its comparisons") ||
		strings.Contains(all, "too few") || strings.Contains(all, "infinite interval") {
		t.Errorf("caveats %s", all)
	}
	if s.Result != "a is ahead" {
		t.Errorf("result %q", s.Result)
	}
	if !strings.Contains(s.Board.Note, "exact sign test") {
		t.Errorf("note %q", s.Board.Note)
	}
}

func TestWinsThatAreTooFewAreSaidToBe(t *testing.T) {
	t.Parallel()
	// 2 x 0.5^5 = 0.0625 shows nothing, 2 x 0.5^6 = 0.031 does.
	five, six := words.Summarise(compared(t, nil, "a b 11111")), words.Summarise(compared(t, nil, "a b 111111"))
	if !strings.HasPrefix(five.Headline.String(), "No difference was found between a and b") ||
		!strings.Contains(text(five), "5 questions are too few for that: it takes 6 or more, all won.") {
		t.Errorf("five: %s", text(five))
	}
	if five.Result != "both tied at the top" {
		t.Errorf("result %q", five.Result)
	}
	if !strings.HasPrefix(six.Headline.String(), "a is ahead ") || strings.Contains(text(six), "too few") {
		t.Errorf("six: %s", text(six))
	}
}

func TestLanesThatNeverMetAreNamedWithWhatConnectsThem(t *testing.T) {
	t.Parallel()
	s := words.Summarise(compared(t, nil, "a c 1111111", "b d 1212121"))
	head := text(s)
	for _, want := range []string{
		"The lanes cannot be ranked together: not all were compared with each other.",
		"a and c were never compared with b and d.", "a is ahead (100% of comparisons won).",
		"No difference was found between b and d (43 to 57% of comparisons won).",
	} {
		if !strings.Contains(head, want) {
			t.Errorf("headline %q\nwants %q", head, want)
		}
	}
	if all := text(s); !strings.Contains(all,
		"Comparisons of a with b would connect them. First add them to `pairs` of stage pairs in s.yaml, then type (answers are kept):") {
		t.Errorf("caveats %s", all)
	}
	if s.Result != "not all were compared" {
		t.Errorf("result %q", s.Result)
	}
	if s.Board.Tiers {
		t.Error("letters for lanes that do not compare")
	}
	people := compared(t, func(s *analysis.Stage) { s.Judges = nil }, "a c 1111111", "b d 1212121")
	if len(people.Report.Leaderboards) > 0 {
		if all := text(words.Summarise(people)); !strings.Contains(all, "assay label r1 pairs") {
			t.Errorf("people: %s", all)
		}
	}
}

// TestStrengthsStandBeforeWinsThatAreInAnotherOrder has a contestant that wins half against a strong one, and one that wins most
// against a weak one.
func TestStrengthsStandBeforeWinsThatAreInAnotherOrder(t *testing.T) {
	t.Parallel()
	board := words.Summarise(compared(t, nil, "strong mid 1111112222", "mid weak 1111111112", "weak least 1111111112"+"1111111112")).Board
	if board == nil || board.Columns[0].Head != "strength (wins)" || board.Rows[0].Name != "strong" ||
		!regexp.MustCompile(`^\+\d\.\d\d \(60\.0%\)$`).MatchString(board.Rows[0].Cells[0].Text) {
		t.Errorf("%+v", board)
	}
	board = words.Summarise(compared(t, nil, "a b 1111111222", "b c 1111111222", "a c 1111111122")).Board
	if board == nil || board.Columns[0].Head != "wins" || !strings.HasSuffix(board.Rows[0].Cells[0].Text, "%") {
		t.Errorf("in order: %+v", board)
	}
}
