package stats

// Reliability is the share of the spread of the strengths that is not error: 1 - mean(se^2)/var(theta). It falls below 0
// when there is more error than spread.
func Reliability(theta, se []float64) Number {
	if len(theta) != len(se) {
		return Undefined("%d strengths with %d errors", len(theta), len(se))
	}
	if len(theta) < 2 {
		return Undefined("a spread needs two items, there are %d", len(theta))
	}
	spread := variance(theta)
	if spread == 0 {
		return Undefined("all strengths are equal")
	}
	noise := 0.0
	for _, s := range se {
		noise += s * s
	}
	return Known(1 - noise/float64(len(se))/spread)
}
