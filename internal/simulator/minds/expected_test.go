package minds

import (
	"math"
	"testing"

	"assay/internal/simulator/dice"
)

func TestWhatIsExpectedIsWhatManyQuestionsFind(t *testing.T) {
	t.Parallel()
	w := Writer{Quality: map[string]float64{"strong": 62, "weak": 48}, Yield: map[string]float64{"strong": 0.3}}
	truth := w.Truth("strong", "weak")
	strong, weak := truth.Models["strong"], truth.Models["weak"]
	j := w.judges()
	const n = 20000
	var yes, won, tied, score float64
	for k := range n {
		r := dice.New(uint64(k) * 7919)
		a, b := written(level(strong.Quality, r)), written(level(weak.Quality, r))
		one := &ruling{Judges: j, judging: judging{shown: []string{a}, texts: []string{a}}, draw: dice.Mix(uint64(k))}
		if one.choose([]string{"right", "wrong"}) == 0 {
			yes++
		}
		score += one.seen()
		two := &ruling{Judges: j, judging: judging{shown: []string{a, b}, texts: []string{a, b}}, draw: dice.Mix(uint64(k) + 1<<40)}
		switch two.side(true) {
		case 0:
			won++
		case 2:
			tied++
		}
	}
	expectWon, _, expectTied := truth.Meet(strong, weak, true)
	for _, c := range []struct {
		what      string
		want, got float64
	}{
		{"share of the better label", truth.Picks(strong, Place("right", []string{"right", "wrong"}), 2), yes / n},
		{"mean of what is seen", truth.Seen(strong, func(s float64) float64 { return s }), score / n},
		{"wins of the first", expectWon, won / n},
		{"ties", expectTied, tied / n},
	} {
		if math.Abs(c.want-c.got) > 0.012 {
			t.Errorf("%s: expected %.4f, found %.4f", c.what, c.want, c.got)
		}
	}
}

func TestGivingInAddsUpOverTurns(t *testing.T) {
	t.Parallel()
	truth := Truth{Explicit: 0.6, Control: 0.03}
	any, explicit := truth.GivesIn(Model{Yield: 0.3}, 1)
	if math.Abs(any-0.3) > 1e-12 || math.Abs(explicit-0.18) > 1e-12 {
		t.Errorf("after one push %.3f gave in, %.3f explicitly", any, explicit)
	}
	if any, _ = truth.GivesIn(Model{Yield: 0.3}, 3); math.Abs(any-(1-0.7*0.7*0.7)) > 1e-12 {
		t.Errorf("after three pushes %.3f", any)
	}
	if any, _ = truth.Changes(1); math.Abs(any-0.03) > 1e-12 {
		t.Errorf("without a push %.3f", any)
	}
	slips := Truth{Explicit: 0.6, Slip: 0.1}
	if any, _ = slips.GivesIn(Model{}, 1); math.Abs(any-0.1) > 1e-12 {
		t.Errorf("a judge that slips finds %.3f where nobody gives in", any)
	}
}

func TestLabelsStandWhereJudgesPutThem(t *testing.T) {
	t.Parallel()
	r := rubric(t, "compliance")
	var words []string
	for _, l := range r.Labels {
		words = append(words, l.Name)
	}
	if at := Place("compliant", words); at != 1 {
		t.Errorf("compliant stands at %d of %v", at, words)
	}
	if at := Place("wrong", []string{"right", "wrong"}); at != 0 {
		t.Errorf("wrong stands at %d", at)
	}
}
