package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Three documents of rules, six models, three judges: how many answers each judge called compliant, and the published mean
// over judges.
func publishedCompliance() []struct {
	answers int
	yes     [3][6]int // by judge and model
	mean    [6]float64
} {
	return []struct {
		answers int
		yes     [3][6]int
		mean    [6]float64
	}{
		// the first document
		{920, [3][6]int{{688, 727, 673, 613, 663, 631}, {698, 737, 662, 613, 662, 635}, {669, 730, 696, 609, 654, 665}}, [6]float64{
			0.7445652173913043, 0.7949275362318841, 0.7358695652173912, 0.6648550724637681, 0.7170289855072464, 0.6996376811594202}},
		// the second document
		{980, [3][6]int{{653, 800, 682, 545, 629, 656}, {679, 817, 688, 575, 660, 675}, {707, 841, 742, 592, 674, 738}}, [6]float64{
			0.6935374149659864, 0.8360544217687075, 0.7183673469387756, 0.582312925170068, 0.667687074829932, 0.7037414965986395}},
		// the third document
		{460, [3][6]int{{293, 338, 294, 254, 284, 309}, {274, 323, 283, 256, 270, 301}, {292, 337, 313, 245, 263, 324}}, [6]float64{
			0.6224637681159421, 0.7231884057971015, 0.644927536231884, 0.5471014492753623, 0.5920289855072464, 0.6768115942028986}},
	}
}

func TestMeansOverJudgesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	for d, doc := range publishedCompliance() {
		var scores []JudgeScore
		for m, want := range doc.mean {
			var by []float64
			for j := range doc.yes {
				by = append(by, NewRate(doc.yes[j][m], doc.answers, 0.95).Share.Value)
				scores = append(scores, JudgeScore{Judge: j, Subject: m, Score: by[j]})
			}
			s := OverJudges(by, 0.95)
			if math.Abs(s.Mean.Value-want) > 1e-15 {
				t.Errorf("document %d, model %d: mean %v, published %v", d, m, s.Mean.Value, want)
			}
			half := 4.302652729911275 * SD(by).Value / math.Sqrt(3) // Student's t with two degrees of freedom
			if diff := cmp.Diff(Between(want-half, want+half), s.Interval, about(1e-9)); diff != "" {
				t.Errorf("document %d, model %d: %s", d, m, diff)
			}
		}
		deltas, err := Deltas(scores)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range deltas.Deltas {
			want := float64(doc.yes[x.Judge][x.Subject])/float64(doc.answers) - doc.mean[x.Subject]
			if math.Abs(x.Delta-want) > 1e-12 {
				t.Errorf("document %d: judge %d is %v above the mean on model %d, want %v", d, x.Judge, x.Delta, x.Subject, want)
			}
		}
	}
}

// Seventy-five settings of a comparing judge: how often the text shown first won, of how many comparisons, the published
// p-value, and how many settings share it.
func publishedPositions() []struct {
	first, n int
	p        float64
	settings int
} {
	return []struct {
		first, n int
		p        float64
		settings int
	}{
		{146, 380, 7.40e-06, 1}, {147, 326, 0.085835393, 1}, {152, 380, 1.14e-04, 2}, {155, 380, 3.87e-04, 1}, {158, 380, 0.001201212, 3},
		{159, 380, 0.001716647, 1}, {162, 380, 0.004716577, 2}, {163, 380, 0.006475477, 2}, {164, 380, 0.008802803, 1},
		{165, 380, 0.011849483, 1}, {168, 380, 0.027263025, 5}, {169, 380, 0.035305211, 1}, {170, 380, 0.045286981, 2},
		{172, 380, 0.072440575, 2}, {173, 380, 0.090349349, 2}, {174, 380, 0.111654614, 4}, {175, 380, 0.136733955, 3},
		{176, 380, 0.165945688, 5}, {177, 380, 0.199613447, 1}, {178, 380, 0.238009824, 2}, {179, 378, 0.328448317, 1},
		{180, 380, 0.32972497, 3}, {181, 380, 0.383189231, 2}, {182, 380, 0.441647405, 1}, {183, 380, 0.504897234, 3},
		{184, 380, 0.5726158, 3}, {185, 378, 0.718868251, 1}, {185, 380, 0.644360876, 3}, {186, 380, 0.719577487, 2},
		{189, 380, 0.959096305, 2}, {191, 380, 0.959096305, 2}, {192, 380, 0.877717225, 1}, {193, 380, 0.797609694, 1},
		{194, 380, 0.719577487, 1}, {196, 380, 0.5726158, 1}, {198, 380, 0.441647405, 1}, {206, 380, 0.111654614, 1},
		{207, 380, 0.090349349, 1}, {213, 380, 0.020852038, 1}, {214, 380, 0.015795485, 1}, {219, 380, 0.003401436, 1},
	}
}

func TestPositionalBiasHasThePublishedPValues(t *testing.T) {
	t.Parallel()
	settings := 0
	for _, c := range publishedPositions() {
		settings += c.settings
		got := BinomialTest(c.first, c.n, 0.5)
		if !got.OK || math.Abs(got.Value-c.p) > 1e-6 {
			t.Errorf("%d of %d: p %v, published %v", c.first, c.n, got.Value, c.p)
		}
	}
	if settings != 75 {
		t.Errorf("%d settings, want 75", settings)
	}
}
