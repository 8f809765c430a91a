package quote

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

// Detectable reads a difference such as 5pt; empty: none is asked for.
func Detectable(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	const hint = "5pt are 5 points: of rates, of hundredths of the scale of scores, or 55:45 of wins"
	number, points := strings.CutSuffix(strings.TrimSpace(text), "pt")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, shell.Usage(hint, "--detect %s: want a difference such as 5pt", strconv.Quote(text))
	case x < 0.1 || x > 99:
		return 0, shell.Usage(hint, "--detect %s: want 0.1pt to 99pt", text)
	case !points:
		return 0, shell.Usage(fmt.Sprintf("did you mean --detect %spt? %s", strings.TrimSpace(number), hint),
			"--detect %s has no unit", text)
	}
	return x, nil
}

// powerLines returns what a stage of the planned size can show, and what size a difference needs where that is asked for.
func powerLines(q plan.Power) string {
	if q.Why != "" {
		return fmt.Sprintf("Stage %s: %s; a run of 20 items would show it.\n", q.Stage, q.Why)
	}
	line := ""
	switch {
	case q.What == plan.OfWins:
		line = winsLine(q)
	case q.Contestants > 1:
		line = pairedLine(q)
	}
	line += NoWorseLines(q)
	if q.Further > 0 {
		line += fmt.Sprintf("  These items are a first look at 5%%: if more are asked later, what is new is claimed at %.3g%%. "+
			"`assay plan STUDY --pilot %d` asks without judging, and is no look.\n", 100*q.Further, q.Items)
	}
	if q.Detect != nil {
		line += detectLine(q)
	}
	return line
}

// NoWorseLines returns what a stage can show of lanes that are held against a baseline; empty: none are.
func NoWorseLines(q plan.Power) string {
	var b strings.Builder
	for _, k := range q.NoWorse {
		fmt.Fprintf(&b, "Stage %s, no worse by %s: with %s a true difference of 0 passes in %.0f%%", q.Stage,
			pointsOf(q, k.Points), assay.Count(q.Items, "item"), 100*k.Chance)
		if k.Tests > 1 {
			fmt.Fprintf(&b, ", lane by lane of %d", k.Tests)
		}
		fmt.Fprintf(&b, " (%s); 80%% need %s.\n", strings.TrimPrefix(rests(q), "5% level, 80% power, "), neededWords(k.Needed))
	}
	return b.String()
}

// pointsOf returns so many points in the unit of a stage.
func pointsOf(q plan.Power, points float64) string {
	if q.What == plan.OfMeans {
		return ofScore(points/100*q.Scale, 3) + " of the score"
	}
	return fmt.Sprintf("%.4g points", points)
}

// rests returns what a figure rests on.
func rests(q plan.Power) string {
	text := "5% level, 80% power"
	if m := q.Measured; m != nil {
		return fmt.Sprintf("%s, as run %s varied over %s", text, m.Run, assay.Count(m.Items, "item"))
	}
	text += map[plan.Measure]string{
		plan.OfRates: ", paired, rates near 50%", plan.OfMeans: ", paired, scores that spread over a quarter of their scale",
		plan.OfExcess: ", paired with the control, about 25% taken back",
	}[q.What]
	if q.Clusters > 0 {
		text += fmt.Sprintf(", items in %s that are alike in a fifth", assay.Count(q.Clusters, "cluster"))
	}
	return text
}

func pairedLine(q plan.Power) string {
	line := fmt.Sprintf("Stage %s: %s%s for each lane", q.Stage, map[bool]string{true: "at most "}[q.AtMost], assay.Count(q.Items, "item"))
	if q.Difference == 0 {
		line += " can show no difference"
	} else {
		line += " can show a difference of about " + sizeOf(q, q.Difference)
		if q.What == plan.OfExcess {
			line += " taken back, from the control or between two lanes"
		}
		switch {
		case q.Tests > 1 && q.DifferenceAll > 0:
			line += fmt.Sprintf(", and %s between any two of %d lanes at once", sizeOf(q, q.DifferenceAll), q.Contestants)
		case q.Tests > 1:
			line += fmt.Sprintf(", and none between any two of %d lanes at once", q.Contestants)
		}
	}
	line += fmt.Sprintf(" (%s)", rests(q))
	if q.Need > 0 {
		line += fmt.Sprintf("; %s about %s", fiveOf(q), assay.Count(q.Need, "item"))
	}
	return line + ".\n"
}

// sizeOf returns a difference in the unit of a stage.
func sizeOf(q plan.Power, x float64) string {
	if q.What == plan.OfMeans {
		return ofScore(x, 2) + " of the score"
	}
	return fmt.Sprintf("%.0f points", 100*x)
}

// ofScore returns a part of a score in so many digits; a large one is whole, without an exponent.
func ofScore(x float64, digits int) string {
	if x >= math.Pow10(digits)-0.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return fmt.Sprintf("%.*g", digits, x)
}

// fiveOf returns what a difference of five points is.
func fiveOf(q plan.Power) string {
	if q.What == plan.OfMeans {
		return ofScore(0.05*q.Scale, 2) + " needs"
	}
	return "5 points need"
}

func winsLine(q plan.Power) string {
	pairs := "less than 1 comparison"
	if q.Pairs > 0 {
		pairs = map[bool]string{true: "at most "}[q.AtMost] + assay.Count(q.Pairs, "comparison")
	}
	line := fmt.Sprintf("Stage %s: %s of each two of %d", q.Stage, pairs, q.Contestants)
	if q.Share > 0 {
		line += fmt.Sprintf(" can tell %s from even", odds(q.Share))
	} else {
		line += " can show no difference"
	}
	switch {
	case q.Tests > 1 && q.ShareAll > 0:
		line += fmt.Sprintf(", and %s when all are tested at once", odds(q.ShareAll))
	case q.Tests > 1 && q.Share > 0:
		line += ", and nothing when all are tested at once"
	}
	return line + fmt.Sprintf(" (%s); 55:45 needs %s.\n", rests(q), assay.Count(q.Need, "comparison"))
}

func odds(share float64) string { return fmt.Sprintf("%.0f:%.0f", 100*share, 100-100*share) }

// detectLine returns what size a difference needs.
func detectLine(q plan.Power) string {
	d := q.Detect
	what := pointsOf(q, d.Points)
	switch {
	case q.What == plan.OfWins && d.Points < 50:
		what = fmt.Sprintf("%.4g:%.4g", 50+d.Points, 50-d.Points)
	case q.What == plan.OfWins:
		what += " above even"
	}
	if d.Why != "" {
		return fmt.Sprintf("  To show %s: %s.\n", what, d.Why)
	}
	line := fmt.Sprintf("  To show %s: %s", what, neededWords(d.TwoLanes))
	if d.AllPairs != nil {
		line += fmt.Sprintf("; between any two of %d at once: %s", q.Contestants, neededWords(*d.AllPairs))
	}
	return line + ".\n"
}

// neededWords returns a size and its cost.
func neededWords(n plan.Needed) string {
	var parts []string
	if n.Items > 0 {
		parts = append(parts, assay.Count(n.Items, "item"))
	}
	if n.Comparisons > 0 {
		parts = append(parts, assay.Count(n.Comparisons, "comparison"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case n.TooMany:
		return text + ", more than there are pairs: show fewer of them, or be content with less"
	case n.Cost == nil:
		return text + ", cost unknown"
	}
	text += ", " + assay.Dollars(*n.Cost).String()
	if n.Live != nil && *n.Live != *n.Cost {
		text += " (live " + assay.Dollars(*n.Live).String() + ")"
	}
	return text
}
