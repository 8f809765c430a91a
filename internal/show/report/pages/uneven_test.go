package pages_test

import (
	"strings"
	"testing"

	"assay/internal/show/report/words"
)

// TestLanesOnDifferentQuestionsAreComparedOnThoseThatTheyShare has a lane with an answer to every question and one with the easy ones
// alone: right equally often on these, 77 points apart by what each has.
func TestLanesOnDifferentQuestionsAreComparedOnThoseThatTheyShare(t *testing.T) {
	t.Parallel()
	easy, hard := strings.Repeat("+", 11)+"-", strings.Repeat("-", 60)
	for own, told := range map[string]bool{easy: true, easy + hard: false} {
		d := judged(t, map[string]string{"all": easy + hard, "part": own}, nil)
		s := words.Summarise(d)
		all := text(s)
		for _, want := range []string{"No difference was found between part and all.",
			"all and part are 76 points apart, and 0 points apart on the 12 that both have."} {
			if strings.Contains(all, want) != told {
				t.Errorf("%q is told: %t, want %t, in:\n%s", want, !told, told, all)
			}
		}
		for _, p := range d.Report.Leaderboards[0].Places {
			if !p.Best.OK || p.Best.Value < 0.2 || p.Best.Value > 0.8 {
				t.Errorf("%s: the chance of being best is %v", p.Name, p.Best)
			}
		}
		noted := false
		for _, table := range d.Report.Tables {
			for _, note := range table.Notes {
				noted = noted || strings.Contains(note, "do not have the same items")
			}
		}
		if noted != told {
			t.Errorf("a note on different items: %t, want %t", noted, told)
		}
	}
}
