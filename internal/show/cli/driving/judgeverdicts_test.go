package driving

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAComparisonOfTwoTextsInWords(t *testing.T) {
	t.Parallel()
	paid, none := 0.002, 0.0
	said := func(judge, first, second, label, state string) comparedVerdict {
		v := comparedVerdict{Judge: judge, First: first, Second: second, State: state, Reason: "\x1b[31mred", Key: "abcdefghijklmnop"}
		if state == "valid" {
			v.Winner = v.winner(label)
		}
		return v
	}
	for _, c := range []struct {
		said []comparedVerdict
		want string
		n    [5]int // wins of a and of b, ties, abstained, without
	}{
		{[]comparedVerdict{said("x", "a", "b", "a", "valid"), said("x", "b", "a", "b", "valid")}, "a is better in all 2 comparisons.",
			[5]int{2, 0, 0, 0, 0}},
		{[]comparedVerdict{said("x", "a", "b", "b", "valid")}, "b is better in the one comparison.", [5]int{0, 1, 0, 0, 0}},
		{[]comparedVerdict{said("x", "a", "b", "a", "valid"), said("x", "b", "a", "a", "valid")},
			"No winner: a and b are each better in 1 of 2 comparisons, 0 ties.", [5]int{1, 1, 0, 0, 0}},
		{[]comparedVerdict{said("x", "a", "b", "tie", "valid"), said("x", "b", "a", "tie", "valid")},
			"Neither is better in all 2 comparisons.", [5]int{0, 0, 2, 0, 0}},
		{[]comparedVerdict{said("x", "a", "b", "tie", "valid"), said("y", "a", "b", "a", "valid"), said("y", "b", "a", "", "malformed")},
			"a is better in 1, b in 0 of 2 comparisons, 1 tie.", [5]int{1, 0, 1, 0, 1}},
		{[]comparedVerdict{said("x", "a", "b", "", "abstained")}, "There is no verdict.", [5]int{0, 0, 0, 1, 0}},
	} {
		d := compared{A: "a", B: "b", Run: "r", Verdicts: c.said, Cost: &paid, PaidNow: &none}
		d.count()
		if diff := cmp.Diff(c.n, [5]int{d.WinsA, d.WinsB, d.Ties, d.Abstained, d.Without}); diff != "" {
			t.Errorf("%s: %s", c.want, diff)
		}
		text := d.words([]string{"x", "y"})
		if !strings.Contains(text, "\n"+c.want+"\n") || !strings.Contains(text, "Cost: nothing now, $0.0020 before.") ||
			strings.Contains(text, "\x1b") {
			t.Errorf("want %s, got %s", c.want, text)
		}
		if swayed := strings.Contains(text, "Its choice changes with the order."); swayed != (c.n == [5]int{1, 1, 0, 0, 0}) {
			t.Errorf("changed with the order: %v\n%s", swayed, text)
		}
	}
	for want, d := range map[string]compared{
		"not known":                   {Cost: &paid},
		"nothing":                     {Cost: &none, PaidNow: &none},
		"$0.0020":                     {Cost: &paid, PaidNow: &paid},
		"$0.0010 now, $0.0010 before": {Cost: &paid, PaidNow: func() *float64 { half := 0.001; return &half }()},
	} {
		if got := d.cost(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
