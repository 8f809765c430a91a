package answers

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
)

func TestTheSameTurnsStandSideBySide(t *testing.T) {
	t.Parallel()
	row := func(lane, branch string, turn int) answerRow {
		r := answerRow{at: assay.Coordinates{Stage: "answers", Item: "q", Lane: lane, Turn: turn, Branch: branch, Draw: 1}}
		r.Answer = rows.Answer{AskedLane: lane, At: rows.At{Turn: int64(turn), Branch: branch, Draw: 1}}
		return r
	}
	lanes := byLane([]answerRow{row("b", "", 1), row("a", "doubt", 2), row("b", "doubt", 2), row("b", "expert", 2), row("c", "", 1),
		row("c", "expert", 2), row("b", "doubt", 3)})
	align(lanes)
	// by hand: the first turn, then doubt and expert of the second, then the third
	want := map[string][]string{"a": {"", "2doubt", "", ""}, "b": {"1", "2doubt", "2expert", "3doubt"}, "c": {"1", "", "2expert", ""}}
	for _, l := range lanes {
		if len(l.Cells) != 4 {
			t.Fatalf("lane %s has %d cells", l.Lane, len(l.Cells))
		}
		for k, cell := range l.Cells {
			got := ""
			if cell != nil {
				got = string(rune('0'+cell.Turn)) + cell.Branch
			}
			if got != want[l.Lane][k] {
				t.Errorf("lane %s, place %d: %q, want %q", l.Lane, k, got, want[l.Lane][k])
			}
		}
	}
}
