package plot

import (
	"math"
	"strconv"

	"assay/internal/find/analysis"
)

// Scale maps values to places on a plot. What lies outside is put on the edge.
type Scale struct {
	Low, High float64 // values
	From, To  float64 // places
	log       bool
}

// At returns the place of a value.
func (s Scale) At(v float64) float64 {
	low, high := s.Low, s.High
	if s.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(math.Max(v, s.Low/10))
	}
	share := 0.5
	if high > low {
		share = min(1, max(0, (v-low)/(high-low)))
	}
	return s.From + share*(s.To-s.From)
}

// holds reports whether a value lies on the scale.
func (s Scale) holds(v float64) bool { return v >= s.Low && v <= s.High }

// Ticks are round numbers over a range, about so many, and the step between them.
func Ticks(low, high float64, about int) (list []float64, step float64) {
	if !Finite(low) || !Finite(high) || high <= low || about < 1 {
		return []float64{low}, 1
	}
	step = niceStep((high - low) / float64(about))
	if !Finite(step) || step <= 0 {
		return []float64{low}, 1
	}
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for k := first; k <= last && len(list) < 50; k++ {
		list = append(list, k*step+0) // + 0: never minus zero
	}
	return list, step
}

// niceStep returns the smallest of 1, 2, 2.5, 5 times a power of ten that is at least so large.
func niceStep(atLeast float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(atLeast)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= atLeast*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// widened returns a range whose ends are round numbers.
func widened(low, high float64, about int) (float64, float64) {
	if !Finite(low) || !Finite(high) {
		return 0, 1
	}
	if high-low <= 1e-9*math.Max(1, math.Abs(low)) { // what is left of sums that should be equal is no range
		pad := math.Max(math.Abs(low)*0.1, 0.5)
		low, high = low-pad, high+pad
	}
	for range 3 { // a wider range may want wider steps
		step := niceStep((high - low) / float64(about))
		low, high = math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step
	}
	return low, high
}

// logTicks are 1, 2 and 5 times powers of ten over a range; powers alone where it is wide.
func logTicks(low, high float64) []float64 {
	var out []float64
	multiples := []float64{1, 2, 5}
	if high/low > 300 {
		multiples = multiples[:1]
	}
	for p := math.Floor(math.Log10(low)); p <= math.Ceil(math.Log10(high)) && len(out) < 50; p++ {
		for _, m := range multiples {
			if v := m * math.Pow(10, p); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// TickText returns a tick with as many digits as its step needs.
func TickText(u analysis.Unit, v, step float64) string {
	suffix := ""
	switch u {
	case analysis.Share:
		v, step, suffix = v*100, step*100, "%"
	case analysis.Gap: // the axis names them
		v, step = v*100, step*100
	}
	digits := 0
	if step > 0 && step < 1 {
		digits = min(8, int(math.Ceil(-math.Log10(step)-1e-9)))
	}
	if m := step * math.Pow(10, float64(digits)); math.Abs(m-math.Round(m)) > 1e-6 {
		digits++ // a step of 2.5
	}
	return strconv.FormatFloat(v+0, 'f', digits, 64) + suffix
}
