package reading

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestAnAnswerThatIsVeryLongIsNoEmptyCell(t *testing.T) {
	t.Parallel()
	long := store.Answer{Over: true, Outcome: assay.Outcome{Ending: assay.Answered}}
	short := store.Answer{Outcome: assay.Outcome{Ending: assay.Answered, Text: "yes"}}
	if got := cellText(long); got != "(long: --json prints it)" {
		t.Errorf("a long answer is shown as %q", got)
	}
	if got := cellText(short); got != "yes" {
		t.Errorf("a short answer is shown as %q", got)
	}
}
